/// @file
/// Readers of the texts that compilers make of kernels.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"

namespace tenfold::isa {

/// Remembers places of code, but no more than 16 MiB of them: a text may have many lines of one
/// long name.
class place_keeper {
 public:
  void add(std::vector<source_place>& to, const source_place& place) {
    const std::size_t bytes = sizeof place + place.file.size();
    if (bytes > left_) return;
    left_ -= bytes;
    to.push_back(place);
  }

 private:
  std::size_t left_ = std::size_t{16} << 20;
};

/// Reads AMD's assembly, as clang writes it with `-S` and, for the places, with
/// `-gline-tables-only -gdwarf-4`.
[[nodiscard]] std::vector<kernel_code> read_amdgcn(std::string_view text);

/// Reads PTX, as nvcc writes it with `-ptx` and, for the places, with `-lineinfo`. The resources
/// are those that PTX itself names: none.
[[nodiscard]] std::vector<kernel_code> read_ptx(std::string_view text);

/// Reads what `nvdisasm -c -gi` prints. The resources are none.
[[nodiscard]] std::vector<kernel_code> read_sass(std::string_view text);

/// Takes over what `ptxas -v` says of the kernels.
void read_ptxas_report(std::string_view report, std::vector<kernel_code>& kernels);

}  // namespace tenfold::isa
