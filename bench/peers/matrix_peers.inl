// Many reductions at once: sums of a matrix's rows or columns, or of segments, and a kernel that
// reads and writes as many bytes and does nothing else. Compiled as CUDA or as HIP.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/peers/matrix_peer.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "host/row_reducer.hpp"

namespace tenfold::measure {
inline namespace TENFOLD_BACKEND {
namespace {

using vector = static_array<unsigned, 4>;

constexpr int reading_block = 256;

/// Reads all words, and writes a vector for each `columns` vectors of them; where there are
/// offsets, reads a vector of them before.
template <int Loads, bool Streaming, bool HasOffsets>
__global__ void __launch_bounds__(reading_block)
    read_and_write(const unsigned* in, std::size_t words, unsigned columns, const unsigned* offsets,
                   unsigned* out, std::size_t written, unsigned* checksum) {
  const std::size_t n = words / 4;
  const std::size_t first = std::size_t{blockIdx.x} * (reading_block * Loads) + threadIdx.x;
  static_array<vector, Loads> batch{};
  static_for<0, less_than<Loads>, increment<1>>([&]<int K>() {
    const std::size_t i = first + K * reading_block;
    if (i < n) get<K>(batch) = gpu::load_vector<4>(in + 4 * i, Streaming);
  });
  unsigned seen = 0;
  static_for<0, less_than<Loads>, increment<1>>([&]<int K>() {
    const vector& read = get<K>(batch);
    const unsigned word = get<0>(read) ^ get<1>(read) ^ get<2>(read) ^ get<3>(read);
    const auto i = static_cast<unsigned>(first + K * reading_block);
    if (i % columns == 0 && i / columns < written) {
      const std::size_t at = std::size_t{i / columns} * 4;
      vector all{word, word, word, word};
      if constexpr (HasOffsets) {
        all = gpu::load_vector<4>(offsets + at, Streaming);
        get<0>(all) ^= word;
      }
      gpu::store_vector(out + at, all);
    }
    seen ^= word;
  });
  if (first < words % 4) seen ^= in[n * 4 + first];
  // Only when asked to: the time is that of the loads and stores.
  if (checksum != nullptr) atomicXor(checksum, seen);
}

using reading_kernel = void (*)(const unsigned*, std::size_t, unsigned, const unsigned*, unsigned*,
                                std::size_t, unsigned*);

class matrix_reader final : public runnable {
 public:
  matrix_reader(const device_session& on, const conditions& at, reading_kernel kernel, int loads)
      : on_(on),
        at_(at),
        kernel_(kernel),
        loads_(loads),
        offsets_(offsets_on(on.opened(), at, on.queue())),
        written_(on.opened(), at.bytes_written()),
        checksum_(on) {}

  void enqueue(const void* in, std::uint64_t) override {
    in_ = in;
    read(nullptr);
  }
  /// Reads once more, this time to the checksum.
  value result() override {
    const unsigned zero = 0;
    on_.opened().make_current();
    copy_to_device(checksum_.data(), &zero, sizeof zero, on_.queue());
    read(checksum_.data());
    return std::uint32_t{checksum_.wait()};
  }

 private:
  void read(unsigned* checksum) {
    on_.opened().make_current();
    std::size_t words = at_.bytes() / sizeof(unsigned);
    std::size_t written = at_.bytes_written() / sizeof(vector);
    // Each vector that is written stands for as many that are read.
    auto ratio =
        static_cast<unsigned>(at_.bytes() / std::max<std::uint64_t>(at_.bytes_written(), 1));
    const void* offsets = offsets_.data();
    void* out = written_.data();
    void* arguments[] = {&in_, &words, &ratio, &offsets, &out, &written, &checksum};
    launch(kernel_, ceil_div(words / 4 + 1, static_cast<std::uint64_t>(reading_block * loads_)),
           reading_block, 0, on_.queue(), arguments);
  }

  const device_session& on_;
  conditions at_;
  reading_kernel kernel_;
  int loads_;
  device_memory offsets_, written_;
  result_on_device<unsigned> checksum_;
  const void* in_ = nullptr;
};

template <int Loads, bool Streaming>
peer reading_peer() {
  return {.name = "matrix:read:" + std::to_string(Loads) + (Streaming ? ":streaming" : ""),
          .kind = peer_kind::reader,
          .make = [](session& on, const conditions& at) -> std::unique_ptr<runnable> {
            refuse_arrays(at);
            if (at.bytes_written() > at.bytes())
              throw input_error("the sums take more bytes than the elements: use more columns");
            return std::make_unique<matrix_reader>(own_session(on), at,
                                                   at.has_segments()
                                                       ? &read_and_write<Loads, Streaming, true>
                                                       : &read_and_write<Loads, Streaming, false>,
                                                   Loads);
          }};
}

/// Rows that are folded in one way, whatever the rule takes.
peer way(const std::string& name, const planner& plan) {
  return {.name = "way:" + name,
          .of_matrices = true,
          .make = [plan](session& on, const conditions& at) -> std::unique_ptr<runnable> {
            refuse_arrays(at);
            if (at.axis != matrix_axis::rows || at.type != element_type::f32)
              throw input_error("it is a way to fold rows of f32: use --axis rows --type f32");
            return make_matrix_sums<sizeof(float)>(on, at, plan);
          }};
}

/// In all as many blocks as the device has room for, times so many halves, but no more than have
/// something to read, and room for their partials.
row_plan in_several_blocks(const row_query& q, std::uint64_t halves) {
  const std::uint64_t wanted = ceil_div(detail::blocks_wanted(q.device) * halves / 2, q.rows);
  const std::uint64_t turns = ceil_div(q.columns * q.element_bytes, detail::bytes_of_turn);
  const std::uint64_t blocks = std::min({wanted, turns, detail::most_partials(q.device) / q.rows});
  if (blocks < 2) throw input_error("rows are too many or too short for several blocks each");
  return detail::by_blocks(q, blocks);
}

/// In which lanes, a warp, a block or several blocks can fold a row.
void append_ways(std::vector<peer>& all) {
  for (const short_rows& s : detail::shapes_of_elements)
    all.push_back(way("lanes:" + std::to_string(s.lanes) + "x" + std::to_string(s.loads) + "x" +
                          std::to_string(s.rows),
                      [s](const row_query& q) { return detail::by_lanes(q, s); }));
  all.push_back(way("warp", detail::by_warps));
  for (const int block : detail::row_blocks)
    all.push_back(way("block:" + std::to_string(block),
                      [block](const row_query& q) { return detail::by_blocks(q, 1, block); }));
  // No slash in a name: it parts the fields of a result's.
  constexpr std::pair<const char*, std::uint64_t> multiples[] = {
      {"0.5x", 1}, {"1x", 2}, {"2x", 4}, {"4x", 8}};
  for (const auto& each : multiples)
    all.push_back(
        way(std::string("blocks:") + each.first,
            [halves = each.second](const row_query& q) { return in_several_blocks(q, halves); }));
}

}  // namespace
}  // namespace TENFOLD_BACKEND

void append_matrix_peers(std::vector<peer>& all) {
  all.push_back({.name = "matrix:sums",
                 .of_matrices = true,
                 .make = [](session& on, const conditions& at) -> std::unique_ptr<runnable> {
                   return make_of_matrix(
                       at, [&]<typename In>() { return make_matrix_sums<sizeof(In)>(on, at); });
                 }});
  all.push_back(reading_peer<1, false>());
  all.push_back(reading_peer<2, false>());
  all.push_back(reading_peer<2, true>());
  all.push_back(reading_peer<4, false>());
  all.push_back(reading_peer<4, true>());
  append_ways(all);
}

}  // namespace tenfold::measure
