// Inputs beyond 2^31 and 2^32 elements.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <string>

#include "host/reducer.hpp"
#include "kernels/10_two_pass.hpp"

namespace tenfold {
namespace {

/// Pages that are never written share one page of zeros: the input takes address space alone.
class sparse_bytes {
 public:
  explicit sparse_bytes(std::uint64_t n)
      : n_(n),
        data_(
            static_cast<std::uint8_t*>(mmap(nullptr, n, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~sparse_bytes() { munmap(data_, n_); }
  sparse_bytes(const sparse_bytes&) = delete;
  sparse_bytes& operator=(const sparse_bytes&) = delete;
  std::uint8_t* get() const { return data_; }

 private:
  std::uint64_t n_;
  std::uint8_t* data_;
};

class LargeInput : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LargeInput, HasNoSizeAtWhichAnIndexWraps) {
  const std::uint64_t n = GetParam();
  const sparse_bytes in(n);
  const std::uint64_t marked[] = {
      0, (std::uint64_t{1} << 31) - 1, (std::uint64_t{1} << 31) - 2, n / 2, n - 2, n - 1};
  std::uint64_t expected = 0;
  for (std::uint64_t weight = 1; const std::uint64_t i : marked) {
    if (i >= n || in.get()[i] != 0) continue;
    in.get()[i] = static_cast<std::uint8_t>(weight);
    expected += weight;
    weight *= 2;
  }
  const device on(32);
  reducer<std::uint8_t, std::uint64_t, sum<std::uint64_t>> add(two_pass::stage{}, on, n,
                                                               {.block = 256, .items = 16});
  EXPECT_EQ(add(in.get(), n), expected);
}

constexpr std::uint64_t two_to_31 = std::uint64_t{1} << 31, two_to_32 = std::uint64_t{1} << 32;
const auto name_size = [](const auto& test) { return std::to_string(test.param); };
INSTANTIATE_TEST_SUITE_P(large, LargeInput, testing::Values(two_to_32 + 1), name_size);
INSTANTIATE_TEST_SUITE_P(full, LargeInput, testing::Values(two_to_31 - 1, two_to_31, two_to_31 + 1),
                         name_size);

}  // namespace
}  // namespace tenfold
