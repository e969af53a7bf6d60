/// @file
/// The order in which the executor runs what a GPU would run at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenfold::simt {

/// Neither threads of a block nor blocks of a grid have an order on a GPU. A kernel that counts on
/// one breaks under one of these.
struct schedule {
  enum class order {
    in_order,
    reverse,
    random,
    blocks_reverse,  ///< blocks from the last, their threads in order
    first,           ///< in order, except for one thread on one stretch of its way
    last
  };
  order blocks_and_lanes = order::in_order;
  std::uint64_t seed = 0;  ///< of `random`
  unsigned thread = 0;     ///< of each block, which goes `first` or `last`
  unsigned stretch = 0;    ///< where: after so many barriers and collectives of its own

  friend bool operator==(const schedule&, const schedule&) = default;
};

/// Reads `in-order`, `reverse`, `blocks-reverse`, `random:SEED`, `first:THREAD@STRETCH` or
/// `last:THREAD@STRETCH`.
/// @throws input_error on anything else.
[[nodiscard]] schedule parse_schedule(std::string_view text);
[[nodiscard]] std::string to_string(const schedule& s);

/// A sequence of random numbers that is the same everywhere (splitmix64).
class random_sequence {
 public:
  explicit random_sequence(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tenfold::simt
