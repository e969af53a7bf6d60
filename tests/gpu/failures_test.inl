// What becomes of an error of the runtime: one line that says what to do, and nothing left behind.
// The errors are injected; there is no GPU in this. Compiled as CUDA or as HIP.
#include "tests/gpu/failures.hpp"

#include <thread>
#include <tuple>
#include <vector>

#include "host/backends/device_session.hpp"
#include "host/ranks/peers.hpp"
#include "host/reducer.hpp"
#include "host/reducer_pool.hpp"
#include "kernels/10_two_pass.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

std::vector<registered_stage>& registered_stages() {
  static std::vector<registered_stage> none;
  return none;
}

std::vector<registered_call>& registered_calls() {
  static std::vector<registered_call> none;
  return none;
}

module_list kernel_modules() {
  return {};
}

namespace {

using add = reducer<float, float, sum<float>>;
constexpr std::uint64_t n = 100'000;
constexpr auto unforeseen = static_cast<fake::status>(46);

TEST_F(Failures, MemoryThatIsNotThere) {
  const device gpu(0);
  fake::fail_function("Malloc", TENFOLD_RUNTIME(ErrorMemoryAllocation));
  EXPECT_EQ(message_of([&] { device_memory(gpu, 4096); }),
            "allocating 4096 bytes on the device failed: out of memory: use a smaller n, or end "
            "what else holds memory of the device");
}

TEST_F(Failures, DevicesThatDoNotReachEachOther) {
  const device gpu(0);
  EXPECT_EQ(message_of([&] { open_memory(gpu, 2); }),
            "device 0 cannot write into the memory of device 2: take devices that NVLink, Infinity "
            "Fabric or a PCIe switch connects, or another stage");
  EXPECT_NO_THROW(open_memory(gpu, 1));
  EXPECT_NO_THROW(open_memory(gpu, 0)) << "a device that shares with itself";
  fake::fail_function("DeviceEnablePeerAccess", TENFOLD_RUNTIME(ErrorPeerAccessAlreadyEnabled));
  EXPECT_NO_THROW(open_memory(gpu, 1)) << "a second time";
  EXPECT_EQ(TENFOLD_RUNTIME(GetLastError)(), TENFOLD_RUNTIME(Success));
  fake::fail_function("DeviceEnablePeerAccess", TENFOLD_RUNTIME(ErrorInvalidValue));
  EXPECT_EQ(message_of([&] { open_memory(gpu, 1); }),
            "opening a device's memory to another failed: invalid argument");
}

TEST_F(Failures, StreamOfAnotherDevice) {
  EXPECT_EQ(
      message_of(400),
      "waiting failed: invalid resource handle: the stream is gone, or of another device: pass "
      "one of the device that the reducer was made for");
}

TEST_F(Failures, KernelThatBrokeTheContext) {
  for (const auto& [code, text] : sticky_errors)
    EXPECT_EQ(message_of(code), std::string("waiting failed: ") + text + sticky_advice);
}

TEST_F(Failures, ErrorsThatNothingIsKnownOf) {
  EXPECT_EQ(message_of(1), "waiting failed: invalid argument");
}

TEST_F(Absence, NoneWhereThereIsADevice) {
  EXPECT_EQ(device_absence(), "");
  EXPECT_EQ(device_count(), 1);
}

// ---- what is left behind ------------------------------------------------------------------------

/// Everything that a program does with a device.
void use_a_device() {
  device_session session(0);
  const auto in = session.allocate(n * sizeof(float));
  const float one = 1;
  session.upload(in->data(), &one, sizeof one);
  EXPECT_GT(session.free_bytes(), 0u);
  const device gpu(0);
  add sum_up(two_pass::stage{}, gpu, n);
  const device_memory out(gpu, sizeof(float));
  const auto* elements = reinterpret_cast<const float*>(in->data());
  session.time(
      [&] { sum_up.enqueue(elements, n, static_cast<float*>(out.data()), stream(gpu).handle()); });
  std::ignore = sum_up(elements, n);
  float copy = 0;
  session.download(&copy, in->data(), sizeof copy);
  session.synchronize();
}

TEST_F(Failures, NothingIsLeftWhicheverCallFails) {
  use_a_device();
  const int all = fake::calls();
  ASSERT_GT(all, 30);
  for (int i = 1; i <= all; ++i) {
    fake::reset();
    fake::fail_call(i, unforeseen);
    EXPECT_NE(message_of(use_a_device), "no error") << "call " << i;
    EXPECT_EQ(fake::calls(), i) << "it goes on after the error";
    EXPECT_EQ(fake::held(), 0) << "call " << i;
    EXPECT_EQ(TENFOLD_RUNTIME(GetLastError)(), TENFOLD_RUNTIME(Success)) << "call " << i;
  }
}

TEST_F(Failures, NothingIsLeftWhicheverCallFindsTheContextBroken) {
  use_a_device();
  const int all = fake::calls();
  for (int i = 1; i <= all; ++i) {
    fake::reset();
    fake::fail_call(i, TENFOLD_RUNTIME(ErrorIllegalAddress));
    EXPECT_TRUE(message_of(use_a_device).ends_with(sticky_advice)) << "call " << i;
    EXPECT_EQ(fake::held(), 0) << "call " << i;
    EXPECT_EQ(TENFOLD_RUNTIME(GetLastError)(), TENFOLD_RUNTIME(ErrorIllegalAddress))
        << "the runtime keeps it";
  }
}

TEST_F(Failures, EverythingAfterABrokenContextSaysSo) {
  for (const auto& [code, text] : sticky_errors) {
    fake::reset();
    const device gpu(0);
    const stream queue(gpu);
    const device_memory memory(gpu, 4096);
    stopwatch watch;
    add sum_up(two_pass::stage{}, gpu, n);
    auto* elements = static_cast<float*>(memory.data());

    fake::fail_function("StreamSynchronize", static_cast<fake::status>(code));
    const std::string end = std::string(" failed: ") + text + sticky_advice;
    EXPECT_EQ(message_of([&] { queue.synchronize(); }), "waiting for the stream" + end);
    const std::function<void()> uses[] = {
        [&] { stream another(gpu); },
        [&] { stopwatch another; },
        [&] { device_memory(gpu, 1); },
        [&] { watch.start(queue.handle()); },
        [&] { std::ignore = gpu.free_bytes(); },
        [&] { add(two_pass::stage{}, gpu, n); },
        [&] { sum_up.enqueue(elements, 1, elements + 1, queue.handle()); },
        [&] { std::ignore = sum_up(elements, 1); },
        [] { device_session(0); }};
    for (const auto& use : uses) EXPECT_TRUE(message_of(use).ends_with(end)) << message_of(use);
  }
}

TEST_F(Failures, AMovedFromObjectGivesNothingBack) {
  const device gpu(0);
  {
    device_memory first(gpu, 1), second;
    second = std::move(first);
    stream queue(gpu), other(std::move(queue));
  }
  EXPECT_EQ(fake::held(), 0);
}

// ---- streams by their handles
// ---------------------------------------------------------------------

struct nothing {
  void enqueue(stream_handle) {}
};

/// Nor do two threads share it of which one has ended, and has left work in its stream.
TEST_F(Failures, NoThreadsShareAReducerForWhatIsAnotherStreamInEach) {
  reducer_pool pool(2, [] { return nothing{}; });
  const auto call = [&] { pool.enqueue(TENFOLD_RUNTIME(StreamPerThread)); };
  const auto is_refused_to_a_thread = [&] {
    bool is_refused = false;
    std::thread([&] {
      try {
        call();
      } catch (const input_error&) {
        is_refused = true;
      }
    }).join();
    return is_refused;
  };
  call();
  call();
  EXPECT_FALSE(is_refused_to_a_thread());
  EXPECT_TRUE(is_refused_to_a_thread()) << "the third thread's stream is one too many";
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
