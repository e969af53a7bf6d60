// Run by mpirun, a rank a process: each checks what all of them reduce, and says what is wrong.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "common/exact_sum.hpp"
#include "host/data/input.hpp"
#include "host/distributed_reducer.hpp"
#include "host/ranks/gather_through_host.hpp"
#include "host/ranks/mpi.hpp"
#include "host/ranks/together.hpp"
#include "kernels/01_naive.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

int failures = 0;

void expect(bool is_so, const mpi_ranks& all, const std::string& what) {
  if (is_so) return;
  ++failures;
  std::printf("rank %d of %d: %s\n", all.rank(), all.count(), what.c_str());
}

/// How n elements are shared: evenly, or as a test likes it.
using sharing = share (*)(std::uint64_t n, int rank, int ranks);

share all_on_the_last(std::uint64_t n, int rank, int ranks) {
  return rank + 1 == ranks ? share{0, n} : share{0, 0};
}
share halves(std::uint64_t n, int rank, int ranks) {
  share s{0, n};
  for (int each = 0; each <= rank; ++each) {
    if (each != 0) s.first += s.count;
    const std::uint64_t rest = n - s.first;
    s.count = each + 1 == ranks ? rest : rest / 2;
  }
  return s;
}

template <typename In, typename Op>
auto reduce_shares(const mpi_ranks& all, const device& on, const std::vector<In>& elements,
                   sharing how, Op op) {
  using T = decltype(op.identity());
  const share mine = how(elements.size(), all.rank(), all.count());
  distributed_reducer<In, Op, gather_through_host> reduce(on, gather_through_host(all), mine.count,
                                                          op);
  const stream queue(on);
  const device_memory in(on, (mine.count + 1) * sizeof(In)), out(on, sizeof(T));
  copy_to_device(in.data(), elements.data() + mine.first, mine.count * sizeof(In), queue.handle());
  reduce.enqueue(static_cast<const In*>(in.data()), mine.count, static_cast<T*>(out.data()),
                 queue.handle());
  T result = op.identity();
  copy_to_host(&result, out.data(), sizeof(T), queue.handle());
  queue.synchronize();
  return result;
}

constexpr sharing sharings[] = {share_of, all_on_the_last, halves};
constexpr std::uint64_t sizes[] = {0, 1, 2, 3, 255, 256, 257, 65537};

void test_order(const mpi_ranks& all, const device& on) {
  for (const std::uint64_t n : sizes) {
    std::vector<matrix> elements(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto x = static_cast<std::uint32_t>(i);
      elements[i] = {2 * x + 1, x * x, x + 7, 1};
    }
    matrix expected = matrix_product{}.identity();
    for (const matrix& each : elements) expected = matrix_product{}(expected, each);
    for (const sharing how : sharings)
      expect(reduce_shares(all, on, elements, how, matrix_product{}) == expected, all,
             "the product of " + std::to_string(n) + " matrices");
  }
}

void test_exact_sum(const mpi_ranks& all, const device& on) {
  constexpr std::uint64_t n = 5000;
  std::vector<float> elements(n);
  generate_input(elements.data(), element_type::f32, "sum", n, 1);
  // Of all magnitudes, so that any rounding on the way would show.
  for (std::uint64_t i = 0; i < n; ++i) elements[i] = std::ldexp(elements[i], int(i % 80) - 40);
  exact_sum<float> expected;
  for (const float each : elements) expected.add(each);
  for (const sharing how : sharings) {
    const float found = reduce_shares(all, on, elements, how, sum<exact_sum<float>>{}).round();
    expect(found == expected.round(), all, "the exact sum");
  }
}

void test_all_ranks_see_the_same(const mpi_ranks& all, const device& on) {
  std::vector<float> elements(100'000);
  generate_input(elements.data(), element_type::f32, "sum", elements.size(), 2);
  const float sum_here = reduce_shares(all, on, elements, share_of, sum<float>{});
  for (const float there : all.gather(sum_here)) expect(there == sum_here, all, "bits by rank");
  for (int again = 0; again < 5; ++again)
    expect(reduce_shares(all, on, elements, share_of, sum<float>{}) == sum_here, all,
           "bits by time");
  elements[elements.size() - 1] = std::numeric_limits<float>::quiet_NaN();
  const float none = reduce_shares(all, on, elements, share_of, maximum<float>{});
  expect(none != none, all, "the maximum with a NaN");
}

/// By a stage that is not the best, and on the last rank alone.
void test_a_stage_and_one_result(const mpi_ranks& all, const device& on) {
  constexpr std::uint64_t n = 1000;
  const std::vector<std::uint32_t> elements(n, 3);
  distributed_reducer<std::uint32_t, sum<std::uint32_t>, gather_through_host> add(
      naive::stage{}, on, gather_through_host(all), n);
  const stream queue(on);
  const device_memory in(on, n * sizeof(std::uint32_t)), out(on, sizeof(std::uint32_t));
  copy_to_device(in.data(), elements.data(), n * sizeof(std::uint32_t), queue.handle());
  std::uint32_t result = 7;
  copy_to_device(out.data(), &result, sizeof result, queue.handle());
  const bool wants = all.rank() + 1 == all.count();
  add.enqueue(static_cast<const std::uint32_t*>(in.data()), n,
              wants ? static_cast<std::uint32_t*>(out.data()) : nullptr, queue.handle());
  copy_to_host(&result, out.data(), sizeof result, queue.handle());
  queue.synchronize();
  const auto count = static_cast<std::uint32_t>(all.count());
  expect(result == (wants ? 3 * n * count : 7), all, "the result on the last rank alone");
}

void test_disagreement(const mpi_ranks& all, const device& on) {
  if (all.count() == 1) return;
  const std::vector<float> elements(10, 1.0f);
  const auto is_refused = [&](const auto& step) {
    try {
      step();
    } catch (const input_error&) {
      return true;
    }
    return false;
  };
  expect(is_refused([&] {
           if (all.rank() == 0)
             reduce_shares(all, on, elements, share_of, sum<float>{});
           else
             reduce_shares(all, on, elements, share_of, maximum<float>{});
         }),
         all, "ranks with different operators were not refused");
}

void test_errors_are_shared(const mpi_ranks& all) {
  const int last = all.count() - 1;
  std::string told;
  try {
    together(all, [&] {
      if (all.rank() == last) throw input_error("too much");
    });
  } catch (const shared_error& e) {
    told = e.what();
  }
  const std::string prefix =
      last == 0 ? "" : "rank " + std::to_string(last) + " of " + std::to_string(last + 1) + ": ";
  expect(told == prefix + "too much", all, "the last rank's error is told as '" + told + "'");
}

}  // namespace
}  // namespace tenfold

int main(int argc, char** argv) {
  using namespace tenfold;
  MPI_Init(&argc, &argv);
  {
    const mpi_ranks all;
    try {
#ifdef TENFOLD_ON_GPU
      const device on(all.rank_on_host());
#else
      const device on(32);
#endif
      test_order(all, on);
      test_exact_sum(all, on);
      test_all_ranks_see_the_same(all, on);
      test_a_stage_and_one_result(all, on);
      test_disagreement(all, on);
      test_errors_are_shared(all);
    } catch (const std::exception& e) {
      expect(false, all, e.what());
    }
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
