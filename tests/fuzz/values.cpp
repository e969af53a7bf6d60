// Values of options: counts, lists of sizes, orders of threads.
#include "host/simt/schedule.hpp"
#include "host/text/quantity.hpp"
#include "tests/fuzz/fuzz.hpp"

void tenfold::fuzz(std::string_view bytes) {
  const auto holds = [](bool what) {
    if (!what) __builtin_trap();
  };
  refuse_or([&] {
    const std::uint64_t count = parse_count(bytes);
    holds(parse_count(format_count(count)) == count);
  });
  refuse_or([&] { holds(!parse_sizes(bytes).empty()); });
  refuse_or([&] {
    const simt::schedule order = simt::parse_schedule(bytes);
    holds(simt::to_string(simt::parse_schedule(simt::to_string(order))) == simt::to_string(order));
  });
}
