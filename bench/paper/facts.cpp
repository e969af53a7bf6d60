// What is known of the kernels without running them, as JSON: on_paper_facts gpus.json
//
// For each GPU of the file the shapes that the rules choose, what the machine code of those kernels
// takes and has in flight, and the plans; and what a fold takes of instructions.
// docs/blocks/paper.py makes sense of it.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/error.hpp"
#include "host/isa/isa.hpp"
#include "host/reduce/best.hpp"
#include "host/reduce/kernel_family.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/plan.hpp"

namespace tenfold {
namespace {

using nlohmann::json;

device_properties device_of(const json& gpu) {
  const auto figure = [&](const char* name) { return gpu.at(name).at("value").get<int>(); };
  const std::string architecture = gpu.at("architecture");
  return {.name = gpu.at("name"),
          .architecture = architecture,
          .warp_size = isa::parse_architecture(architecture).warp_size,
          .multiprocessors = figure("multiprocessors"),
          .threads_per_multiprocessor = figure("threads_per_multiprocessor"),
          // No grid here comes near what a launch may have.
          .blocks_per_launch = std::numeric_limits<std::uint64_t>::max()};
}

// ---- the kernels --------------------------------------------------------------------------------

struct element {
  const char* type;  ///< as the program names it
  const char* name;  ///< as C++ does
  const char* op;
};
constexpr element f32_sum{"f32", "float", "sum"};

struct wanted_kernel {
  stage_info stage;
  tenfold::shape shape;
  element of = f32_sum;
};

std::vector<isa::kernel_code> compile(const std::vector<wanted_kernel>& wanted,
                                      const isa::architecture& a,
                                      const std::vector<std::string>& flags = {}) {
  std::string unit = "#include \"common/operators.hpp\"\n";
  for (const wanted_kernel& each : wanted)
    unit += fmt::format("#include \"{}\"\n", file_of(each.stage));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    unit += fmt::format(
        "auto kernel_{}() {{ return tenfold::{}::stage::kernel<{}, {}, {}, {type}, {type}, "
        "tenfold::{}<{type}>>(); }}\n",
        i, wanted[i].stage.name, wanted[i].shape.block, a.warp_size, wanted[i].shape.items,
        wanted[i].of.op, fmt::arg("type", wanted[i].of.name));
  std::vector<isa::kernel_code> kernels = isa::compile(unit, a, flags);
  if (kernels.size() != wanted.size())
    throw device_error(fmt::format("{} kernels were asked for, the compiler made {}", wanted.size(),
                                   kernels.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (kernels[i].symbol.find(wanted[i].stage.name) == std::string::npos)
      throw device_error("the compiler did not keep the order of the kernels");
  return kernels;
}

/// The most loads of 16 bytes that a warp starts before it waits for one of them.
int loads_in_flight(const isa::kernel_code& kernel) {
  int most = 0, running = 0;
  for (const isa::code_line& line : kernel.code) {
    const std::string_view text = line.text;
    const bool waits = (text.starts_with("s_waitcnt") && text.find("vmcnt") != text.npos) ||
                       text.starts_with("s_wait_loadcnt");
    if (line.is_label || waits || text.starts_with("s_branch") || text.starts_with("s_cbranch"))
      running = 0;
    else if (text.starts_with("global_load_dwordx4") || text.starts_with("global_load_b128"))
      most = std::max(most, ++running);
  }
  return most;
}

// ---- shapes and plans ---------------------------------------------------------------------------

constexpr std::uint64_t sizes[] = {std::uint64_t{1} << 28, std::uint64_t{1} << 32};

json plan_of(const kernel_family& family, const shape& s, std::uint64_t n) {
  const plan passes = family.plan_for(s, n);
  std::uint64_t blocks = 0, partials = 0;
  for (const pass& each : passes) {
    blocks += each.blocks;
    if (each.blocks > 1) partials += each.blocks;
  }
  return {{"n", n},
          {"launches", passes.size()},
          {"blocks", blocks},
          {"partial_bytes", partials * sizeof(float)}};
}

json gpu_facts(const json& gpu) {
  const device_properties device = device_of(gpu);
  const isa::architecture a = isa::parse_architecture(device.architecture);
  std::vector<kernel_family> families;
  std::vector<wanted_kernel> wanted;
  for (const kernel_family& family : families_of(element_type::f32, f32_sum.op)) {
    if (family.stage.number < 9 || family.stage.number > 11) continue;
    families.push_back(family);
    const shape tuned = tuned_shape({device, sizes[0], sizeof(float)}, family).shape;
    wanted.push_back({family.stage, with_grid(tuned, family, device)});
  }
  const std::vector<isa::kernel_code> kernels = compile(wanted, a);
  json stages;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const shape& s = wanted[i].shape;
    const isa::resources& takes = kernels[i].resources;
    json plans;
    for (const std::uint64_t n : sizes) plans.push_back(plan_of(families[i], s, n));
    stages.push_back({{"stage", wanted[i].stage.number},
                      {"block", s.block},
                      {"items", s.items},
                      {"grid", s.grid},
                      {"vector_registers", takes.vector_registers},
                      {"warps_per_simd", takes.warps_per_simd.value()},
                      {"shared_bytes", takes.shared_bytes},
                      {"loads_in_flight", loads_in_flight(kernels[i])},
                      {"plans", plans}});
  }
  return {{"name", device.name}, {"warp_size", a.warp_size}, {"stages", stages}};
}

// ---- folds --------------------------------------------------------------------------------------

json fold_facts(const char* architecture) {
  const isa::architecture a = isa::parse_architecture(architecture);
  std::vector<wanted_kernel> wanted;
  for (const element& of : {f32_sum, element{"f64", "double", "sum"}, {"i32", "int", "minimum"}})
    for (const int number : {7, 8, 10})
      wanted.push_back({catalogue.at(static_cast<std::size_t>(number - 1)), {}, of});
  const auto counts = [&](const std::vector<std::string>& flags) {
    json all;
    for (const isa::kernel_code& each : compile(wanted, a, flags))
      all.push_back({{"instructions", isa::count_instructions(each)},
                     {"through_lds", isa::count_instructions(each, "ds_bpermute") +
                                         isa::count_instructions(each, "ds_swizzle")}});
    return all;
  };
  const json shuffles = counts({"-DTENFOLD_HIP_DPP=0"}), dpp = counts({});
  json rows;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    rows.push_back({{"architecture", architecture},
                    {"stage", wanted[i].stage.number},
                    {"type", wanted[i].of.type},
                    {"op", wanted[i].of.op},
                    {"shuffles", shuffles[i]},
                    {"dpp", dpp[i]}});
  return rows;
}

/// Newer GPUs take a newer compiler.
struct no_compiler : std::runtime_error {
  using runtime_error::runtime_error;
};

constexpr const char* fold_architectures[] = {"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"};

void need_compilers() {
  for (const char* each : fold_architectures) {
    try {
      std::ignore = isa::compile("__attribute__((global)) void nothing() {}\n",
                                 isa::parse_architecture(each));
    } catch (const input_error& error) {
      throw no_compiler(error.what());
    }
  }
}

json all_facts(const char* file) {
  need_compilers();
  json facts{{"compiler", isa::compiler_version(isa::parse_architecture("gfx90a"))},
             {"gpus", json::array()},
             {"folds", json::array()}};
  std::ifstream in(file);
  const json document = json::parse(in);
  for (const json& gpu : document.at("gpus")) facts["gpus"].push_back(gpu_facts(gpu));
  for (const char* each : fold_architectures) {
    const json rows = fold_facts(each);
    facts["folds"].insert(facts["folds"].end(), rows.begin(), rows.end());
  }
  return facts;
}

}  // namespace
}  // namespace tenfold

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: on_paper_facts gpus.json\n");
    return 2;
  }
  try {
    fmt::print("{}\n", tenfold::all_facts(arguments[1]).dump(1));
    return 0;
  } catch (const tenfold::no_compiler& error) {
    fmt::print(stderr, "on_paper_facts: {}\n", error.what());
    return 77;  // which is how tests tell what cannot be had from what failed
  } catch (const std::exception& error) {
    fmt::print(stderr, "on_paper_facts: {}\n", error.what());
    return 2;
  }
}
