// The read-only kernels, to find out how fast the device's memory can be read, and the copy, a
// library of their own. Compiled as CUDA or as HIP.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/peers/gpu_peer.hpp"
#include "common/gpu.hpp"
#include "common/gpu/bulk_copy.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {
// ---- kernels that read and do nothing else ------------------------------------------------------
//
// Each folds what it reads with an exclusive or, so that no load can be left out, and writes it
// only when asked to: the time is that of the loads.

using vector = gpu::detail::four_words;

/// A load that asks the caches to evict the line first.
__device__ inline vector load_streaming(const vector* p) {
#if defined(__CUDACC__)
  return __ldcs(p);
#else
  return __builtin_nontemporal_load(p);
#endif
}

__device__ inline unsigned fold_words(vector v) {
  return v.x ^ v.y ^ v.z ^ v.w;
}

/// What does not fill a vector, and the result if it is wanted.
__device__ inline void finish_reading(const unsigned* in, std::size_t from, std::size_t words,
                                      unsigned seen, unsigned* checksum) {
  const std::size_t i = from + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words) seen ^= in[i];
  if (checksum != nullptr) atomicXor(checksum, seen);
}

/// A grid that strides over the input, with Loads 16-byte loads a thread on their way at once.
template <int Loads, bool Streaming>
__global__ void read_vectors(const unsigned* in, std::size_t words, unsigned* checksum) {
  const auto* vectors = reinterpret_cast<const vector*>(in);
  const std::size_t n = words / 4, stride = std::size_t{gridDim.x} * blockDim.x;
  const auto load = [&](std::size_t i) {
    if constexpr (Streaming)
      return load_streaming(vectors + i);
    else
      return vectors[i];
  };
  unsigned seen = 0;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (Loads - 1) * stride < n; i += Loads * stride) {
    vector batch[Loads];
#pragma unroll
    for (int k = 0; k < Loads; ++k) batch[k] = load(i + k * stride);
#pragma unroll
    for (int k = 0; k < Loads; ++k) seen ^= fold_words(batch[k]);
  }
  for (; i < n; i += stride) seen ^= fold_words(load(i));
  finish_reading(in, n * 4, words, seen, checksum);
}

#if defined(__CUDACC__)

inline constexpr int bulk_block = 256;

constexpr std::size_t bulk_shared_bytes(int slots, int slot_bytes) {
  return static_cast<std::size_t>(slots) * static_cast<std::size_t>(slot_bytes) +
         gpu::bulk_alignment;
}

/// A ring of slots in shared memory that the copy engine of compute capability 9.0 fills while the
/// block folds the slot before. One thread orders the copies; each slot's barrier says when it is
/// full, the block's own when it is read.
template <int Slots, int SlotBytes>
__global__ void __launch_bounds__(bulk_block)
    read_bulk(const unsigned* in, std::size_t words, unsigned* checksum) {
  constexpr int vectors = SlotBytes / 16;
  vector* ring = gpu::bulk_shared<vector>();
  __shared__ gpu::bulk_barrier full[Slots];
  const std::size_t tiles = words * 4 / SlotBytes;
  const auto order = [&](std::size_t turn) {
    const std::size_t tile = blockIdx.x + turn * gridDim.x;
    if (tile >= tiles) return;
    const int slot = static_cast<int>(turn % Slots);
    gpu::bulk_copy(ring + slot * vectors, reinterpret_cast<const vector*>(in) + tile * vectors,
                   vectors, full[slot]);
  };

  if (threadIdx.x == 0) {
    for (int slot = 0; slot < Slots; ++slot) full[slot].open();
    gpu::bulk_barriers_are_open();
    for (int turn = 0; turn < Slots; ++turn) order(turn);
  }
  __syncthreads();

  unsigned seen = 0;
  for (std::size_t turn = 0; blockIdx.x + turn * gridDim.x < tiles; ++turn) {
    const int slot = static_cast<int>(turn % Slots);
    full[slot].wait(turn / Slots % 2);
#pragma unroll
    for (int i = 0; i < vectors; i += bulk_block)
      seen ^= fold_words(ring[slot * vectors + i + static_cast<int>(threadIdx.x)]);
    __syncthreads();
    if (threadIdx.x == 0) order(turn + Slots);
  }

  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = tiles * (SlotBytes / 4) + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < words; i += stride) seen ^= in[i];
  finish_reading(in, words, words, seen, checksum);
}

#endif

// ---- peers --------------------------------------------------------------------------------------

namespace {

using reading_kernel = void (*)(const unsigned*, std::size_t, unsigned*);

struct reading_launch {
  reading_kernel kernel;
  int block;
  int blocks_per_multiprocessor;
  std::size_t bytes_per_block;  ///< that keep a block busy; a smaller input gets fewer blocks
  std::size_t dynamic_shared_bytes = 0;
};

std::size_t words_of(std::uint64_t n, element_type type) {
  return n * size_of(type) / sizeof(unsigned);
}

void read(const reading_launch& l, const device_session& on, const void* in, std::size_t words,
          unsigned* checksum) {
  const std::uint64_t most = static_cast<std::uint64_t>(on.properties().multiprocessors) *
                             static_cast<std::uint64_t>(l.blocks_per_multiprocessor);
  const std::uint64_t useful = words * sizeof(unsigned) / l.bytes_per_block + 1;
  void* arguments[] = {&in, &words, &checksum};
  launch(l.kernel, std::min(most, useful), l.block, l.dynamic_shared_bytes, on.queue(), arguments);
}

/// The exclusive or of an array's words, by a kernel that is known to read them all.
value checksum_of(const reading_launch& l, const device_session& on, const void* in,
                  std::size_t words, const result_on_device<unsigned>& result) {
  const unsigned zero = 0;
  copy_to_device(result.data(), &zero, sizeof zero, on.queue());
  read(l, on, in, words, result.data());
  return std::uint32_t{result.wait()};
}

class reader final : public runnable {
 public:
  reader(const device_session& on, element_type type, const reading_launch& l)
      : on_(on), type_(type), launch_(l), checksum_(on) {}

  void enqueue(const void* in, std::uint64_t n) override {
    on_.opened().make_current();
    in_ = in;
    words_ = words_of(n, type_);
    read(launch_, on_, in, words_, nullptr);
  }
  /// Reads once more, this time to the checksum.
  value result() override {
    on_.opened().make_current();
    return checksum_of(launch_, on_, in_, words_, checksum_);
  }

 private:
  const device_session& on_;
  element_type type_;
  reading_launch launch_;
  result_on_device<unsigned> checksum_;
  const void* in_ = nullptr;
  std::size_t words_ = 0;
};

constexpr reading_launch plain_read{&read_vectors<4, false>, 256, 8, 16384};

class copier final : public runnable {
 public:
  copier(const device_session& on, const conditions& at)
      : on_(on), type_(at.type), to_(on.opened(), at.bytes()), checksum_(on) {}

  void enqueue(const void* in, std::uint64_t n) override {
    on_.opened().make_current();
    words_ = words_of(n, type_);
    copy_on_device(to_.data(), in, words_ * sizeof(unsigned), on_.queue());
  }
  value result() override {
    on_.opened().make_current();
    return checksum_of(plain_read, on_, to_.data(), words_, checksum_);
  }

 private:
  const device_session& on_;
  element_type type_;
  device_memory to_;
  result_on_device<unsigned> checksum_;
  std::size_t words_ = 0;
};

__global__ void do_nothing() {}

class empty_launch final : public runnable {
 public:
  explicit empty_launch(const device_session& on) : on_(on) {}

  void enqueue(const void*, std::uint64_t) override {
    on_.opened().make_current();
    launch(&do_nothing, 1, on_.properties().warp_size, 0, on_.queue(), nullptr);
  }
  value result() override { return {}; }

 private:
  const device_session& on_;
};

peer reading_peer(const std::string& name, const reading_launch& l) {
  return {.name = "read:" + name,
          .kind = peer_kind::reader,
          .make = [l](session& on, const conditions& at) -> std::unique_ptr<runnable> {
            return std::make_unique<reader>(own_session(on), at.type, l);
          }};
}

template <int Loads, bool Streaming>
peer vector_peer(int block, int blocks) {
  return reading_peer((Streaming ? "streaming:" : "plain:") + std::to_string(block) + ":" +
                          std::to_string(Loads) + ":" + std::to_string(blocks),
                      {&read_vectors<Loads, Streaming>, block, blocks,
                       static_cast<std::size_t>(block) * Loads * sizeof(vector)});
}

#if defined(__CUDACC__)

template <int Slots, int SlotBytes>
peer bulk_peer(int blocks) {
  constexpr std::size_t shared = bulk_shared_bytes(Slots, SlotBytes);
  peer made = reading_peer("bulk:" + std::to_string(Slots) + ":" + std::to_string(SlotBytes) + ":" +
                               std::to_string(blocks),
                           {&read_bulk<Slots, SlotBytes>, bulk_block, blocks, SlotBytes, shared});
  made.make = [make = made.make, shared](session& on, const conditions& at) {
    const device& opened = own_session(on).opened();
    const kernel_handle kernel(&read_bulk<Slots, SlotBytes>);
    for (const std::string& lack : {hardware_lack(opened, 90), build_lack(opened, kernel, 90)})
      if (!lack.empty()) throw input_error("bulk copies need " + lack);
    if (opened.largest_shared_bytes() < shared)
      throw input_error("the device has no shared memory of " + std::to_string(shared) + " bytes");
    allow_shared_bytes(opened, kernel, shared);
    return make(on, at);
  };
  return made;
}

#endif

peer copy_peer() {
  return {.name = "copy",
          .kind = peer_kind::copy,
          .make = [](session& on, const conditions& at) -> std::unique_ptr<runnable> {
            if (on.free_bytes() < at.bytes())
              throw input_error("the device has no room for a copy of the input");
            return std::make_unique<copier>(own_session(on), at);
          }};
}

peer empty_peer() {
  return {.name = "empty",
          .kind = peer_kind::launch,
          .make = [](session& on, const conditions&) -> std::unique_ptr<runnable> {
            return std::make_unique<empty_launch>(own_session(on));
          }};
}

std::vector<peer> list_peers() {
  std::vector<peer> all{copy_peer(),
                        empty_peer(),
                        vector_peer<4, false>(256, 8),
                        vector_peer<4, false>(512, 4),
                        vector_peer<8, false>(512, 4),
                        vector_peer<4, false>(512, 40),
                        vector_peer<4, true>(512, 4),
                        vector_peer<8, true>(256, 8)};
#if defined(__CUDACC__)
  all.push_back(bulk_peer<6, 32768>(1));
  all.push_back(bulk_peer<6, 16384>(2));
#endif
  return all;
}

}  // namespace
}  // namespace tenfold::measure::inline TENFOLD_BACKEND

namespace tenfold::measure {

__attribute__((visibility("default"))) const std::vector<peer>* tenfold_peer_list() {
  static const std::vector<peer> all = list_peers();
  return &all;
}

}  // namespace tenfold::measure
