// Ranks that gather by NCCL or RCCL: a thread for each GPU there is, and so a single rank on one.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "host/distributed_reducer.hpp"
#include "host/ranks/nccl.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr std::uint64_t share_of_a_rank = 100'003;

class Nccl : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
    communicators_.resize(static_cast<std::size_t>(device_count()));
    ASSERT_EQ(ncclCommInitAll(communicators_.data(), device_count(), nullptr), ncclSuccess);
  }
  void TearDown() override {
    for (const ncclComm_t each : communicators_) ncclCommDestroy(each);
  }

  /// What a rank finds, called once in a stream and three times by a graph.
  static std::vector<double> results_of(int rank, ncclComm_t all) {
    const device on(rank);
    on.make_current();
    const stream queue(on);
    std::vector<float> elements(share_of_a_rank);
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<float>(i % 1000 + static_cast<std::size_t>(rank));
    const std::size_t bytes = elements.size() * sizeof(float);
    const device_memory in(on, bytes), out(on, sizeof(double));
    copy_to_device(in.data(), elements.data(), bytes, queue.handle());
    distributed_reducer<float, sum<double>, gather_by_nccl> add(on, gather_by_nccl(all),
                                                                share_of_a_rank);
    const auto enqueue = [&] {
      add.enqueue(static_cast<const float*>(in.data()), share_of_a_rank,
                  static_cast<double*>(out.data()), queue.handle());
    };
    std::vector<double> results;
    const auto read = [&] {
      double result = 0;
      copy_to_host(&result, out.data(), sizeof result, queue.handle());
      queue.synchronize();
      results.push_back(result);
    };
    enqueue();
    read();
    const graph recorded(queue.handle(), enqueue);
    for (int call = 0; call < 3; ++call) {
      recorded.launch(queue.handle());
      read();
    }
    return results;
  }

  std::vector<ncclComm_t> communicators_;
};

TEST_F(Nccl, EveryRankFindsTheSumOfAllInAStreamAndInAGraph) {
  double expected = 0;
  for (std::size_t rank = 0; rank < communicators_.size(); ++rank)
    for (std::uint64_t i = 0; i < share_of_a_rank; ++i)
      expected += static_cast<double>(i % 1000 + rank);
  std::vector<std::vector<double>> found(communicators_.size());
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    ranks.emplace_back(
        [&, rank] { found[rank] = results_of(static_cast<int>(rank), communicators_[rank]); });
  for (std::thread& each : ranks) each.join();
  for (const std::vector<double>& each : found) EXPECT_EQ(each, std::vector<double>(4, expected));
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
