// Failures of a real GPU. Those that a process does not survive happen in one of their own, which
// GoogleTest starts for each death test.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <tuple>

#include "host/reducer.hpp"
#include "kernels/01_naive.hpp"
#include "kernels/10_two_pass.hpp"

// In the other object of this test, for an architecture that is not the GPU's.
void launch_foreign_kernel();

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

using add = reducer<float, float, sum<float>>;
constexpr std::uint64_t n = 100'000;
constexpr const char* sticky_advice =
    ": a kernel failed, and this process cannot use the device any more: start anew, and find the "
    "kernel with compute-sanitizer";

#define SKIP_WITHOUT_GPU() \
  if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible: " << device_absence()

template <typename F>
std::string message_of(const F& work) {
  try {
    work();
  } catch (const device_error& e) {
    return e.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

void expect_usable(const device& gpu) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const device_memory in(gpu, n * sizeof(float));
  detail::check(cudaMemset(in.data(), 0, n * sizeof(float)), "clearing");
  add sum_up(two_pass::stage{}, gpu, n);
  EXPECT_EQ(sum_up(static_cast<const float*>(in.data()), n), 0);
}

// ---- what a process survives --------------------------------------------------------------------

TEST(GpuFailures, MoreMemoryThanTheDeviceHas) {
  SKIP_WITHOUT_GPU();
  const device gpu(0);
  const std::uint64_t bytes = 2 * gpu.properties().memory_bytes;
  EXPECT_EQ(message_of([&] { device_memory(gpu, bytes); }),
            "allocating " + std::to_string(bytes) +
                " bytes on the device failed: out of memory: use a smaller n, or end what else "
                "holds memory of the device");
  expect_usable(gpu);
}

TEST(GpuFailures, MoreScratchMemoryThanTheDeviceHas) {
  SKIP_WITHOUT_GPU();
  const device gpu(0);
  const auto make = [&] { add(naive::stage{}, gpu, std::uint64_t{1} << 60); };
  EXPECT_TRUE(contains(message_of(make), "failed: out of memory: use a smaller n"));
  // What the runtime itself needs for this is there from now on.
  const std::uint64_t before = gpu.free_bytes();
  for (int i = 0; i < 100; ++i) std::ignore = message_of(make);
  EXPECT_EQ(gpu.free_bytes(), before);
  expect_usable(gpu);
}

TEST(GpuFailures, ArchitectureThatIsNotCompiledIn) {
  SKIP_WITHOUT_GPU();
  const device gpu(0);
  cudaDeviceProp p{};
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  if (p.major == 7) GTEST_SKIP() << "this GPU runs the kernel that others do not";
  gpu.make_current();
  const std::string x = std::to_string(p.major), y = std::to_string(p.minor);
  EXPECT_EQ(message_of(launch_foreign_kernel),
            "launching the kernel failed: no kernel image is available for execution on the "
            "device: its compute capability is " +
                x + "." + y + ", build with -DCMAKE_CUDA_ARCHITECTURES=" + x + y);
  expect_usable(gpu);
}

// ---- what it does not ---------------------------------------------------------------------------

__global__ void trap() {
  __trap();
}

__global__ void write_to(int* address) {
  *address = 1;
}

/// Breaks the context with a kernel, then does `work`; the process ends as the program would.
template <typename Kernel, typename... Arguments>
[[noreturn]] void end_after(const std::function<void(const device&, add&)>& work, Kernel kernel,
                            Arguments... arguments) {
  try {
    const device gpu(0);
    const stream queue(gpu);
    const device_memory memory(gpu, n);
    stopwatch watch;
    add sum_up(two_pass::stage{}, gpu, n);
    kernel<<<1, 1, 0, queue.handle()>>>(arguments...);
    const std::string first = message_of([&] { queue.synchronize(); });
    if (!first.ends_with(sticky_advice)) throw device_error("the kernel did not fail: " + first);
    work(gpu, sum_up);
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(static_cast<int>(e.code()));
  }
  std::_Exit(0);
}

class GpuDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_GPU();
    // Anew, not forked: a child cannot use what its parent has open of the device.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

const auto fails = testing::ExitedWithCode(static_cast<int>(exit_code::device_failed));

TEST_F(GpuDeathTest, AKernelThatTrapsLeavesNoReducerToBeMade) {
  EXPECT_EXIT(end_after([](const device& gpu, add&) { add(two_pass::stage{}, gpu, n); }, trap),
              fails, sticky_advice);
}

TEST_F(GpuDeathTest, AKernelThatTrapsLeavesNothingToBeEnqueued) {
  EXPECT_EXIT(end_after(
                  [](const device&, add& sum_up) {
                    float result = 0;
                    sum_up.enqueue(nullptr, 0, &result, nullptr);
                  },
                  trap),
              fails, sticky_advice);
}

TEST_F(GpuDeathTest, AKernelThatTrapsLeavesNoMemoryToBeHad) {
  EXPECT_EXIT(end_after([](const device& gpu, add&) { device_memory(gpu, 1); }, trap), fails,
              sticky_advice);
}

TEST_F(GpuDeathTest, AnIllegalAddressIsNamed) {
  EXPECT_EXIT(end_after([](const device& gpu, add&) { stream another(gpu); }, write_to,
                        static_cast<int*>(nullptr)),
              fails, std::string("an illegal memory access was encountered") + sticky_advice);
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
