// One sum of f32 that GPUs share, a thread for each: how long a call takes, and what the last step
// costs, in the kernel, by NCCL or RCCL, or by the host. Compiled as CUDA, as HIP, or for the
// executor.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/distributed_reducer.hpp"
#include "host/measure/result.hpp"
#include "host/ranks/gather_through_host.hpp"
#include "host/ranks/peers.hpp"
#include "host/ranks/threads.hpp"
#include "host/ranks/together.hpp"
#include "kernels/ranks/peer_partials.hpp"
#if TENFOLD_WITH_NCCL
#include "host/ranks/nccl.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr std::uint64_t most_in_all = std::uint64_t{1} << 31;
/// What is read between two calls with the same elements, so that no cache holds them.
constexpr std::uint64_t bytes_between = std::uint64_t{1} << 29;

#if defined(TENFOLD_RUNTIME)
constexpr int rounds = 51;
constexpr std::uint64_t shares[] = {1u << 20, 1u << 24, 1u << 28, 1u << 30};
device device_of(int rank) {
  return device(rank);
}
#else
constexpr int rounds = 5;
constexpr std::uint64_t shares[] = {1u << 10};
constexpr int executors = 3;
device device_of(int) {
  return device(32);
}
#endif

/// A rank's part of one call, in a stream.
using shared_call = std::function<void(const float* in, float* out, stream_handle on)>;

struct way {
  const char* name;
  /// @param n of each rank
  shared_call (*make)(const ranks&, const device&, std::uint64_t n);
};

template <typename Reducer>
shared_call call_of(std::shared_ptr<Reducer> add, std::uint64_t n) {
  return [add, n](const float* in, float* out, stream_handle queue) {
    add->enqueue(in, n, out, queue);
  };
}

shared_call in_the_kernel(const ranks& all, const device& on, std::uint64_t n) {
  const auto add =
      std::make_shared<reducer<float, float, sum<float>>>(peer_partials::stage{}, on, n);
  const auto places = all.gather(peer_place{add->meeting_place(), on.ordinal()});
  together(all, [&] { join_peers(on, all.rank(), places); });
  return call_of(add, n);
}

#if TENFOLD_WITH_NCCL
/// With the communicator that it goes by.
struct nccl_sum {
  nccl_sum(const ranks& all, const device& on, std::uint64_t n)
      : made(make(all)), add(on, gather_by_nccl(made), n) {}
  nccl_sum(const nccl_sum&) = delete;
  nccl_sum& operator=(const nccl_sum&) = delete;
  ~nccl_sum() { ncclCommDestroy(made); }

  static ncclComm_t make(const ranks& all) {
    // nvcc 13.0 does not compile a vector of a struct without a name.
    struct named {
      ncclUniqueId id;
    } mine{};
    if (all.rank() == 0) ncclGetUniqueId(&mine.id);
    ncclComm_t made = nullptr;
    const ncclResult_t status =
        ncclCommInitRank(&made, all.count(), all.gather(mine)[0].id, all.rank());
    if (status != ncclSuccess) throw device_error(ncclGetErrorString(status));
    return made;
  }
  void enqueue(const float* in, std::uint64_t n, float* out, stream_handle queue) {
    add.enqueue(in, n, out, queue);
  }

  ncclComm_t made;
  distributed_reducer<float, sum<float>, gather_by_nccl> add;
};

shared_call by_nccl(const ranks& all, const device& on, std::uint64_t n) {
  on.make_current();
  return call_of(std::make_shared<nccl_sum>(all, on, n), n);
}
#endif

shared_call through_host(const ranks& all, const device& on, std::uint64_t n) {
  return call_of(std::make_shared<distributed_reducer<float, sum<float>, gather_through_host>>(
                     on, gather_through_host(all), n),
                 n);
}

constexpr way ways[] = {{"peer_partials", in_the_kernel},
#if TENFOLD_WITH_NCCL
                        {"nccl", by_nccl},
#endif
                        {"through_host", through_host}};

/// @param n of each rank
measure::result time_on(const ranks& all, const way& by, std::uint64_t n) {
  const device on = device_of(all.rank());
  on.make_current();
  const stream queue(on);
  const std::uint64_t windows = bytes_between / (n * sizeof(float)) + 1;
  const device_memory elements(on, windows * n * sizeof(float)), out(on, sizeof(float));
  // Small numbers of both signs, so that every sum is exact.
  std::vector<float> of_a_window(n);
  for (std::uint64_t i = 0; i < n; ++i) of_a_window[i] = static_cast<float>(i % 3) - 1;
  auto* const in = static_cast<float*>(elements.data());
  for (std::uint64_t window = 0; window < windows; ++window)
    copy_to_device(in + window * n, of_a_window.data(), n * sizeof(float), queue.handle());
  queue.synchronize();
  const shared_call call = by.make(all, on, n);
  const value expected = n % 3 == 0 ? 0.0F : static_cast<float>(-all.count());
  measure::result r{.who = {.name = by.name},
                    .at = {.n = n * static_cast<std::uint64_t>(all.count()),
                           .mode = measure::timing_mode::back_to_back,
                           .ranks = all.count()},
                    .warp_size = on.properties().warp_size,
                    .computed = expected,
                    .expected = {.expected = expected}};
  constexpr int warm_up = 5;
  for (int round = -warm_up; round < rounds; ++round) {
    const float* const window = in + static_cast<std::uint64_t>(round + warm_up) % windows * n;
    const double seconds = time_of_slowest(all, [&] {
      call(window, static_cast<float*>(out.data()), queue.handle());
      queue.synchronize();
    });
    if (round >= 0) r.seconds.push_back(seconds);
    float result = 0;
    copy_to_host(&result, out.data(), sizeof result, queue.handle());
    queue.synchronize();
    if (value(result) != expected) r.computed = result;
  }
  r.time = measure::summarize(r.seconds);
  const bool is_right = std::ranges::min(all.gather(int{r.computed == expected})) != 0;
  r.verdict = is_right ? verdict::right : verdict::wrong;
  return r;
}

int measure_all() {
#if defined(TENFOLD_RUNTIME)
  const int most = device_count();
#else
  const int most = executors;
#endif
  std::vector<measure::result> results;
  const auto measure = [&](const way& by, int count, std::uint64_t n) {
    if (n * static_cast<std::uint64_t>(count) > most_in_all) return;
    results.push_back(in_threads(count, [&](const ranks& all) { return time_on(all, by, n); }));
    const measure::result& r = results.back();
    std::fprintf(stderr, "%s, ranks: %d, n: %llu, %.4g us\n", by.name, count,
                 static_cast<unsigned long long>(r.at.n), r.time.median * 1e6);
  };
  for (const way& by : ways)
    for (int count = 1; count <= most; ++count)
      for (const std::uint64_t n : shares) {
        measure(by, count, n);
        if (count > 1) measure(by, count, n / static_cast<std::uint64_t>(count));
      }
  measure::write_results("-", nlohmann::ordered_json::object(), results,
                         device_of(0).properties().name);
  return std::ranges::any_of(results, &measure::result::is_wrong) ? 1 : 0;
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND

int main() {
  try {
    return tenfold::measure_all();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tenfold_scaling: %s\n", e.what());
    return 3;
  }
}
