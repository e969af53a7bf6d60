/// @file
/// Running a reduction under an observer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/backends/backend.hpp"
#include "host/data/reference.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::observe {

/// What to run.
struct run_request {
  int stage;  ///< its number
  std::string_view name;
  std::string file;  ///< that holds its kernel, as `name_from_root` has it
  element_type type = element_type::f32;
  std::string_view op = "sum";  ///< `none`: what comes of it is no fold
  tenfold::shape shape;
  std::uint64_t n;
  int warp_size;
  std::size_t offset = 0;  ///< elements between an aligned address and the input
  bool ones = false;       ///< instead of random elements
  bool exact = false;      ///< random ones of which no sum rounds, as they are timed
};

/// What came of it.
struct observed_result {
  std::string kernel;  ///< the stage's name
  tenfold::shape used_shape;
  plan passes;
  value result;
  reference expected;
  bool is_fold = true;  ///< or else there is no saying what it should be

  [[nodiscard]] tenfold::verdict verdict() const {
    return is_fold ? judge(expected, result, passes.depth()) : verdict::right;
  }
};

/// @throws input_error where there are more elements than can be observed
void check_size(std::uint64_t n, std::uint64_t most);

/// How many elements one block of the first pass folds at a time.
[[nodiscard]] std::uint64_t elements_per_block(const run_request& r);

/// Reduces random elements or ones, once.
/// @param by sees the memory, too, from its allocation on; null: whoever observes already
observed_result run_observed(const run_request& r, simt::observer* by);

}  // namespace tenfold::observe
