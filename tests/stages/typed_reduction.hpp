// What the tests of the typed layer share.
#pragma once

#include <cstdint>
#include <vector>

#include "host/reducer.hpp"

namespace tenfold {

inline constexpr unsigned seed = 4711;

/// Device memory with a copy of the elements in it.
template <typename In>
class uploaded {
 public:
  uploaded(const device& on, const std::vector<In>& elements)
      : memory_(on, elements.size() * sizeof(In)) {
    const stream queue(on);
    copy_to_device(memory_.data(), elements.data(), elements.size() * sizeof(In), queue.handle());
    queue.synchronize();
  }
  const In* get() const { return static_cast<const In*>(memory_.data()); }

 private:
  device_memory memory_;
};

template <typename In, typename T, typename Op>
T in_order(const std::vector<In>& in, Op op) {
  T result = op.identity();
  for (const In& x : in) result = op(result, T(x));
  return result;
}

/// Calls `f` with each device that does not lack what the stage takes.
template <typename Stage, typename F>
void on_every_device(F&& f) {
  for (const int warp : warp_sizes)
    if (const device on(warp); hardware_lack(on, Stage::compute_capability).empty()) f(on);
}

/// Around the boundaries of a block and of a tile, and with several passes.
inline constexpr std::uint64_t sizes[] = {0,   1,   2,    63,   64,   255,   256,
                                          257, 512, 1023, 1024, 1025, 70'001};

}  // namespace tenfold
