#include "tests/codegen/reading.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "host/error.hpp"

namespace tenfold::codegen {
namespace {

struct range {
  int first, bytes;
};

/// Of `s_load_dwordx4 s[0:3], s[4:5], 0x2c`, or `s_load_b128` as it is called from gfx11 on.
std::optional<range> scalar_load(const std::string& text) {
  if (!text.starts_with("s_load_")) return {};
  const std::string size = text.substr(7, text.find(' ') - 7);
  int bytes = 4;
  if (size.starts_with("dwordx")) bytes = 4 * std::atoi(size.c_str() + 6);
  if (size.starts_with("b")) bytes = std::atoi(size.c_str() + 1) / 8;
  const std::string offset = text.substr(text.rfind(' ') + 1);
  return range{static_cast<int>(std::strtol(offset.c_str(), nullptr, 0)), bytes};
}

template <typename Predicate>
bool has_scalar_load(const isa::kernel_code& kernel, Predicate fits) {
  return std::any_of(kernel.code.begin(), kernel.code.end(), [&](const isa::code_line& line) {
    const std::optional<range> load = scalar_load(line.text);
    return load && fits(*load);
  });
}

std::string why_not(const isa::architecture& a) {
  if (std::string absence = isa::compiler_absence(a); !absence.empty()) return absence;
  try {
    static_cast<void>(isa::compile("__global__ void nothing() {}\n", a));
    return {};
  } catch (const input_error& e) {
    return e.what();
  }
}

}  // namespace

const std::string& reason_to_skip(const isa::architecture& a) {
  static std::map<std::string, std::string> cached;
  if (!cached.contains(a.name)) cached.emplace(a.name, why_not(a));
  return cached.at(a.name);
}

bool reads_dispatch_packet(const isa::kernel_code& kernel) {
  return has_scalar_load(kernel,
                         [](const range& load) { return load.first == 4 && load.bytes == 4; });
}

bool reads_block_size(const isa::kernel_code& kernel, int argument_bytes) {
  // After the arguments, rounded up to 8 bytes, come the extents of the grid and then of the block.
  const int block_size = (argument_bytes + 7) / 8 * 8 + 12;
  return count_containing(kernel, "%ntid") != 0 || reads_dispatch_packet(kernel) ||
         has_scalar_load(kernel, [&](const range& load) {
           return load.first <= block_size && block_size < load.first + load.bytes;
         });
}

int count_containing(const isa::kernel_code& kernel, std::string_view text) {
  return static_cast<int>(
      std::count_if(kernel.code.begin(), kernel.code.end(), [&](const isa::code_line& line) {
        return !line.is_label && line.text.find(text) != line.text.npos;
      }));
}

}  // namespace tenfold::codegen
