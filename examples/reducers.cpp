// Sums of a million floats: once, again and again, and by a stage of one's choice.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "common/together.hpp"
#include "host/best_reducer.hpp"
#include "host/column_reducer.hpp"
#include "host/reducer.hpp"
#include "host/row_reducer.hpp"
#include "host/segment_reducer.hpp"
#include "host/transform_reduce.hpp"
#include "kernels/10_two_pass.hpp"

#if defined(__CUDACC__) || defined(__HIP__)
const tenfold::device gpu(0);
#else
const tenfold::device gpu(32);  // the executor's, with warps of 32
#endif

// in: n floats, device memory
double add_once(const float* in, std::size_t n) {
  return tenfold::reduce(gpu, in, n, tenfold::sum<double>{});
}

// Made once, for arrays of up to `most` elements: it has its scratch memory from then on
auto make_adder(std::size_t most) {
  return tenfold::best_reducer<float>(gpu, most, tenfold::sum<double>{});
}
using adder = decltype(make_adder(0));

double add_often(adder& add, const float* in, std::size_t n, double* out,
                 tenfold::stream_handle stream) {
  const double total = add(in, n);  // waits for the result
  add.enqueue(in, n, out, stream);  // does not wait; out: device or pinned memory
  return total;
}

double add_by_stage_10(const float* in, std::size_t n) {
  tenfold::reducer<float, double, tenfold::sum<double>> add(tenfold::two_pass::stage{}, gpu, n,
                                                            {.block = 512});
  return add(in, n);
}

double range_and_mean(const float* in, std::size_t n, float& low, float& high) {
  const tenfold::together<tenfold::minimum<float>, tenfold::maximum<float>, tenfold::sum<double>>
      all;
  const auto [least, greatest, total] = tenfold::reduce(gpu, in, n, all);
  low = least;
  high = greatest;
  return total / static_cast<double>(n);
}

// scratch: device memory, aligned to 256 bytes; bytes: as many as scratch_bytes() of
// best_reducer<float>(gpu, in.size(), tenfold::sum<double>{}) says
double add_in_memory_of_mine(std::span<const float> in, void* scratch, std::size_t bytes,
                             tenfold::stream_handle stream) {
  tenfold::scratch_memory source(scratch, bytes);
  return tenfold::reduce(gpu.with_memory_of(source), in, tenfold::sum<double>{}, stream);
}

struct at_least {
  double bound;
  __host__ __device__ bool operator()(float x) const { return x >= bound; }
};

// Both calls run in the stream, after what is in it, and wait for their results
std::uint64_t count_from_the_mean_on(std::span<const float> in, tenfold::stream_handle stream) {
  const tenfold::device here = gpu.in_stream(stream);
  const double mean =
      tenfold::reduce(here, in, tenfold::sum<double>{}) / static_cast<double>(in.size());
  return tenfold::count_if(here, in, at_least{mean});
}

// in: rows of 1000 floats, one after the other
std::vector<double> sums_of_rows(const float* in, std::size_t rows) {
  return tenfold::reduce_rows(gpu, in, rows, 1000, tenfold::sum<double>{});
}

struct square {
  __host__ __device__ double operator()(float x) const { return double{x} * x; }
};

// The cosine of the angle between two vectors of n floats each
double cosine(const float* a, const float* b, std::size_t n) {
  const double length_of_a =
      std::sqrt(tenfold::transform_reduce(gpu, a, n, square{}, tenfold::sum<double>{}));
  const double length_of_b =
      std::sqrt(tenfold::transform_reduce(gpu, b, n, square{}, tenfold::sum<double>{}));
  return tenfold::dot(gpu, a, b, n) / (length_of_a * length_of_b);
}

// Made once, for matrices of any shape
using row_adder = tenfold::row_reducer<float, tenfold::sum<double>>;

// Each row begins 1024 floats after the one before; out: a double for each, device memory
void enqueue_rows(row_adder& add, const float* in, std::size_t rows, double* out,
                  tenfold::stream_handle stream) {
  add.enqueue(in, rows, 1000, 1024, out, stream);
}

// The reducer of tenfold::arg_maximum, made once: an array is one row
using find_greatest = tenfold::row_reducer<float, tenfold::arg_maximum_of<float>,
                                           tenfold::with_place<float>, tenfold::one_row>;

// out: device memory
void enqueue_greatest(find_greatest& find, const float* in, std::size_t n,
                      tenfold::placed<float>* out, tenfold::stream_handle stream) {
  find.enqueue(in, 1, n, n, out, stream);
}

// in: rows of 1000 floats, one after the other
std::vector<double> sums_of_columns(const float* in, std::size_t rows) {
  return tenfold::reduce_columns(gpu, in, rows, 1000, tenfold::sum<double>{});
}

// Segment s is what lies from in[offsets[s]] on, up to in[offsets[s + 1]]
std::vector<double> sums_of_segments(const float* in, const int* offsets, std::size_t segments) {
  return tenfold::reduce_segments(gpu, in, offsets, segments, tenfold::sum<double>{});
}

int main() {
  const std::vector<float> ones(1'000'000, 1);
  const std::size_t bytes = ones.size() * sizeof(float);
  const tenfold::stream queue(gpu);
  const tenfold::device_memory in(gpu, bytes), out(gpu, sizeof(double));
  tenfold::copy_to_device(in.data(), ones.data(), bytes, queue.handle());
  queue.synchronize();

  const auto* elements = static_cast<const float*>(in.data());
  auto* enqueued_to = static_cast<double*>(out.data());
  const double once = add_once(elements, ones.size());
  adder add = make_adder(ones.size());
  const double often = add_often(add, elements, ones.size(), enqueued_to, queue.handle());
  const double by_stage = add_by_stage_10(elements, ones.size());
  double enqueued = 0;
  tenfold::copy_to_host(&enqueued, enqueued_to, sizeof enqueued, queue.handle());
  queue.synchronize();
  const tenfold::device_memory scratch(gpu, 1 << 20);
  const double in_mine =
      add_in_memory_of_mine({elements, ones.size()}, scratch.data(), 1 << 20, queue.handle());
  std::printf("%.0f %.0f %.0f %.0f %.0f\n", once, often, enqueued, by_stage, in_mine);

  float low = 0, high = 0;
  const double mean = range_and_mean(elements, ones.size(), low, high);
  const std::uint64_t count = count_from_the_mean_on({elements, ones.size()}, queue.handle());
  std::printf("%.0f to %.0f, mean %.0f, %.0f from there on\n", low, high, mean,
              static_cast<double>(count));

  const tenfold::device_memory few_sums(gpu, 3 * sizeof(double));
  auto* sums = static_cast<double*>(few_sums.data());
  row_adder add_rows(gpu);
  enqueue_rows(add_rows, elements, 3, sums, queue.handle());
  double of_the_last = 0;
  tenfold::copy_to_host(&of_the_last, sums + 2, sizeof of_the_last, queue.handle());
  queue.synchronize();
  std::printf("%.0f and %.0f\n", sums_of_rows(elements, 1000).back(), of_the_last);
  std::printf("%.0f\n", sums_of_columns(elements, 1000).back());
  std::printf("%.0f\n", cosine(elements, elements, ones.size()));

  find_greatest find(gpu);
  const tenfold::device_memory place(gpu, sizeof(tenfold::placed<float>));
  auto* found = static_cast<tenfold::placed<float>*>(place.data());
  enqueue_greatest(find, elements, ones.size(), found, queue.handle());
  tenfold::placed<float> greatest{};
  tenfold::copy_to_host(&greatest, found, sizeof greatest, queue.handle());
  queue.synchronize();
  std::printf("%.0f at %.0f\n", greatest.value, static_cast<double>(greatest.index));

  const std::vector<int> places{0, 3, 5, 1'000'000};
  const tenfold::device_memory offsets(gpu, places.size() * sizeof(int));
  tenfold::copy_to_device(offsets.data(), places.data(), places.size() * sizeof(int),
                          queue.handle());
  queue.synchronize();
  const auto of_segments = sums_of_segments(elements, static_cast<const int*>(offsets.data()), 3);
  std::printf("%.0f, %.0f and %.0f\n", of_segments[0], of_segments[1], of_segments[2]);
}
