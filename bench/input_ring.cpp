#include "bench/input_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "host/error.hpp"
#include "host/input.hpp"
#include "host/quantity.hpp"

namespace tenfold::bench {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
// As the runtimes align an allocation, so that every window is as good as one.
constexpr std::uint64_t alignment = 256;

/// Not initialised: the cores that fill it should be those that touch it first.
std::byte* allocate_uninitialized(std::uint64_t bytes) {
  try {
    return new std::byte[bytes];
  } catch (const std::bad_alloc&) {
    throw device_error(
        fmt::format("the host has no {} for the input: use a smaller n", format_bytes(bytes)));
  }
}

}  // namespace

host_input::host_input(element_type type, std::string op, std::uint64_t bytes, std::uint64_t seed)
    : type_(type), op_(std::move(op)), bytes_(bytes), data_(allocate_uninitialized(bytes)) {
  generate_input(data_.get(), type_, op_, bytes_ / size_of(type_), seed);
}

const reference& host_input::expected(std::uint64_t n) {
  const auto [at, is_new] = expected_.try_emplace(n);
  if (is_new) at->second = make_reference(data_.get(), type_, op_, n);
  return at->second;
}

const reference& host_input::checksum(std::uint64_t n) {
  const auto [at, is_new] = checksums_.try_emplace(n);
  if (is_new)
    at->second = make_reference(data_.get(), element_type::u32, "bit_xor",
                                n * size_of(type_) / sizeof(std::uint32_t));
  return at->second;
}

input_ring::input_ring(session& on, const host_input& from)
    : element_bytes_(size_of(from.type())), bytes_(from.bytes()), data_(on.allocate(from.bytes())) {
  on.upload(data_->data(), from.data(), from.bytes());
}

const void* input_ring::window(std::uint64_t n, std::uint64_t i) const {
  const std::uint64_t stride = (n * element_bytes_ + alignment - 1) / alignment * alignment;
  const std::uint64_t windows = stride == 0 ? 1 : std::max<std::uint64_t>(1, bytes_ / stride);
  return data_->data() + i % windows * stride;
}

std::uint64_t ring_bytes(const device_properties& device) {
  const std::uint64_t cache = device.last_level_cache_bytes;
  return cache == 0 ? 0 : std::max(4 * cache, gibibyte);
}

}  // namespace tenfold::bench
