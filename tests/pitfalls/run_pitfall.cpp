// Runs one pitfall, or its twin, and says whether the result is right: for a look at it beside
// compute-sanitizer, which bench/pitfalls takes at all of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "host/error.hpp"
#include "tests/pitfalls/pitfalls.hpp"

namespace {

using namespace tenfold;

constexpr int right = 0, wrong = 1, bad_input = 2, device_failed = 3;

void list() {
  for (const pitfalls::kernel& each : pitfalls::all()) fmt::print("{}\n", each.name);
}

int run(const std::string& name, const pitfalls::request& asked) {
  const auto kernels = pitfalls::all();
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const pitfalls::kernel& each) { return each.name == name; });
  if (found == kernels.end())
    throw input_error("there is no pitfall '" + name + "': 'list' names them all");
  const pitfalls::outcome sums = found->run(asked);
  fmt::print("{}: n {}, block {}: wrong {} of {} times; the last sum is {}, expected {}\n", name,
             asked.n, asked.block, sums.wrong, asked.times, sums.result, sums.expected);
  return sums.wrong == 0 ? right : wrong;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Runs a kernel of kernels/pitfalls/, or its mended twin.");
  std::string name, type = "u32";
  pitfalls::request asked{.device = TENFOLD_DEFAULT_DEVICE, .n = 70'001};
  app.add_option("name", name, "a pitfall, or 'list'")->required();
  app.add_option("--n", asked.n, "elements")->capture_default_str();
  app.add_option("--block", asked.block, "threads per block")->capture_default_str();
  app.add_option("--offset", asked.offset, "elements before the first")->capture_default_str();
  app.add_option("--type", type, "of the elements")
      ->check(CLI::IsMember({"u32", "f32"}))
      ->capture_default_str();
  app.add_option("--times", asked.times, "with other elements each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--device", asked.device, "its number")->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  asked.floats = type == "f32";
  try {
    if (name == "list")
      list();
    else
      return run(name, asked);
  } catch (const input_error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return bad_input;
  } catch (const device_error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return device_failed;
  }
  return right;
}
