/// @file
/// All pitfalls and their twins, by name, on the backend that a program is linked with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenfold::pitfalls {

struct request {
  int device = 0;  ///< its number; on the executor, its warp size
  std::uint64_t n = 0;
  int block = 256;
  std::uint64_t offset = 0;  ///< of the input from the beginning of its memory, in elements
  bool floats = false;       ///< f32 instead of u32
  int times = 1;             ///< each with other elements
};

struct outcome {
  int wrong = 0;        ///< of so many times
  double result = 0;    ///< of the last time
  double expected = 0;  ///< of the last time, in the type of the elements
};

struct kernel {
  std::string name;  ///< `early_return`; of its twin `early_return_mended`
  bool is_mended;
  /// Sums pseudo-random elements.
  /// @throws input_error, device_error
  outcome (*run)(const request&);
};

[[nodiscard]] std::vector<kernel> all();

}  // namespace tenfold::pitfalls
