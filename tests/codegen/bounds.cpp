#include "tests/codegen/bounds.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace tenfold::codegen {
namespace {

using nlohmann::json;

json read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return json::object();
  return json::parse(file);
}

/// A line for each kernel, so that a change of one is a change of one line.
void write(const std::string& path, const json& all) {
  std::ofstream file(path);
  file << "{\n  \"values\": " << json("vector registers, scalar registers, bytes of shared memory")
       << ",\n  \"compilers\": {";
  const char* separator = "\n    ";
  for (const auto& [name, compiler] : all.at("compilers").items()) {
    file << separator << json(name) << ": " << compiler;
    separator = ",\n    ";
  }
  file << "\n  },\n  \"kernels\": {";
  separator = "\n    ";
  for (const auto& [label, values] : all.at("kernels").items()) {
    file << separator << json(label) << ": " << values;
    separator = ",\n    ";
  }
  file << "\n  }\n}\n";
}

}  // namespace

bound taken_by(const isa::kernel_code& kernel) {
  const isa::resources& r = kernel.resources;
  return {r.vector_registers, r.scalar_registers.value_or(0), r.shared_bytes};
}

bounds_file::bounds_file(std::string path) : path_(std::move(path)) {}

std::optional<bound> bounds_file::find(const instance& i, const isa::architecture& a) const {
  const json all = read(path_);
  const json::json_pointer at = json::json_pointer("/kernels") / label_of(i) / a.name;
  if (!all.contains(at)) return {};
  const auto values = all.at(at).get<std::array<int, 3>>();
  return bound{values[0], values[1], values[2]};
}

std::string bounds_file::compiler(const isa::architecture& a) const {
  return read(path_).value(json::json_pointer("/compilers") / a.name, "");
}

void bounds_file::record(const isa::architecture& a, const std::string& compiler,
                         const std::vector<stage_kernel>& kernels) const {
  json all = read(path_);
  for (json& each : all["kernels"]) each.erase(a.name);
  all["compilers"][a.name] = compiler;
  for (const stage_kernel& each : kernels) {
    const bound taken = taken_by(each.code);
    all["kernels"][label_of(each.of)][a.name] = {taken.vector_registers, taken.scalar_registers,
                                                 taken.shared_bytes};
  }
  write(path_, all);
}

int major_version(const std::string& compiler) {
  for (const std::string word : {"version ", "release "})
    if (const std::size_t at = compiler.find(word); at != compiler.npos)
      return std::stoi(compiler.substr(at + word.size()));
  return 0;
}

}  // namespace tenfold::codegen
