#include "tests/codegen/instances.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "host/error.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold::codegen {
namespace {

struct folded_type {
  const char *in, *out, *op;
};

bool exists_on(const isa::architecture& a, const stage_info& stage) {
  const int capability = description_of(stage).compute_capability;
  return capability == 0 ||
         (a.vendor == isa::vendor::nvidia && std::stoi(a.name.substr(3)) >= capability);
}

std::vector<instance> instances_of(const stage_info& stage) {
  std::vector<instance> all;
  const auto add = [&](int block, int items, const folded_type& t) {
    all.push_back({stage.number, std::string(stage.name), block, items, t.in, t.out, t.op});
  };
  constexpr folded_type floats{"float", "float", "sum"}, bytes{"signed char", "long long", "sum"},
      unsigned_bytes{"unsigned char", "unsigned long long", "sum"},
      halves{"float16", "float", "sum"}, brains{"bfloat16", "float", "minimum"};
  if (stage.name == "narrow_elements") {
    for (const folded_type& type : {bytes, unsigned_bytes, halves, brains}) add(256, 16, type);
    return all;
  }
  if (stage.name == "exact") {
    for (const folded_type& type : {floats, folded_type{"double", "double", "sum"}})
      add(256, 4, type);
    for (const folded_type& type : {floats, halves, {"bfloat16", "float", "sum"}})
      add(256, 16, type);
    return all;
  }
  const bool knows_block = stage.number >= 6;
  const bool takes_items = description_of(stage).takes_items;
  add(256, 4, floats);
  if (knows_block) add(1024, 4, floats);
  if (takes_items) add(256, 16, floats);
  add(256, 4, {"double", "double", "sum"});
  add(256, 4, {"int", "int", "minimum"});
  if (stage.name == "two_pass")
    for (const folded_type& type : {bytes, halves}) add(256, 16, type);
  return all;
}

std::vector<instance> instances_for(const isa::architecture& a) {
  std::vector<instance> all;
  for (const stage_info& stage : catalogue)
    if (exists_on(a, stage))
      for (instance& each : instances_of(stage)) all.push_back(std::move(each));
  return all;
}

std::string unit_of(const std::vector<instance>& instances, int warp_size) {
  std::string text =
      "#include \"common/narrow_float.hpp\"\n#include \"common/operators.hpp\"\n"
      "#include \"tenfold_all_kernels.hpp\"\n\nnamespace tenfold {\n\n"
      "const void* kernel(int which) {\n  const void* all[] = {\n";
  for (const instance& i : instances)
    text += fmt::format(
        "      reinterpret_cast<const void*>({}::stage::kernel<{}, {}, {}, {}, {}, {}<{}>>()),\n",
        i.stage_name, i.block, warp_size, i.items, i.in, i.out, i.op, i.out);
  return text + "  };\n  return all[which];\n}\n\n}  // namespace tenfold\n";
}

/// A kernel's name without its parameters, spaces and the project's namespaces:
/// `unrolled::reduce_blocks<256,64,float,float,sum<float>>`
std::string short_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : symbol;
  name = name.substr(0, name.find('('));
  for (const std::string part : {"void ", "tenfold::", "on_hip::", "on_cuda::", " "})
    for (std::size_t at; (at = name.find(part)) != name.npos;) name.erase(at, part.size());
  return name;
}

/// The same name, of an instance. The first stages leave the block's size to the launch, the very
/// first ones that of the warp too, and what a thread takes is a parameter from the ninth on.
std::string kernel_name(const instance& i, int warp_size) {
  std::string shape;
  if (i.stage >= 6) shape += fmt::format("{},", i.block);
  if (i.stage >= 5) shape += fmt::format("{},", warp_size);
  if (says(i, &stage_description::takes_items)) shape += fmt::format("{},", i.items);
  std::string name = fmt::format("{}::reduce_blocks<{}{},{},{}<{}>>", i.stage_name, shape, i.in,
                                 i.out, i.op, i.out);
  std::erase(name, ' ');
  return name;
}

using compiling = std::vector<isa::kernel_code>(std::string_view, const isa::architecture&,
                                                const std::vector<std::string>&);

std::vector<stage_kernel> compile_stages(const isa::architecture& a, compiling& compile) {
  const std::vector<instance> instances = instances_for(a);
  std::map<std::string, isa::kernel_code> compiled;
  for (isa::kernel_code& each : compile(unit_of(instances, a.warp_size), a, {}))
    compiled.emplace(short_name(each.symbol), std::move(each));
  std::vector<stage_kernel> kernels;
  for (const instance& each : instances) {
    const std::string name = kernel_name(each, a.warp_size);
    if (!compiled.contains(name)) throw input_error("the code of " + name + " is missing");
    kernels.push_back({each, compiled.at(name)});
  }
  return kernels;
}

int bytes_of(const std::string& type) {
  static const std::map<std::string, int> sizes{
      {"signed char", 1}, {"unsigned char", 1}, {"float16", 2},
      {"bfloat16", 2},    {"float", 4},         {"int", 4},
      {"double", 8},      {"long long", 8},     {"unsigned long long", 8}};
  return sizes.at(type);
}

}  // namespace

bool says(const instance& i, bool stage_description::*trait) {
  return description_of(catalogue.at(static_cast<std::size_t>(i.stage - 1))).*trait;
}

std::string label_of(const instance& i) {
  std::string shape;
  if (i.stage >= 6) shape += fmt::format(", block {}", i.block);
  if (says(i, &stage_description::takes_items)) shape += fmt::format(", {} items", i.items);
  return fmt::format("{}{}, {} {}", i.stage_name, shape, i.in, i.op);
}

int element_bytes(const instance& i) {
  return bytes_of(i.in);
}

int result_bytes(const instance& i) {
  return bytes_of(i.out);
}

const std::vector<stage_kernel>& stage_kernels(const isa::architecture& a) {
  static std::map<std::string, std::vector<stage_kernel>> cached;
  if (!cached.contains(a.name)) cached.emplace(a.name, compile_stages(a, isa::compile));
  return cached.at(a.name);
}

std::vector<stage_kernel> stage_kernels_in_sass(const isa::architecture& a) {
  return compile_stages(a, isa::compile_to_sass);
}

}  // namespace tenfold::codegen
