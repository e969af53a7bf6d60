#include "host/measure/host_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "host/data/input.hpp"
#include "host/error.hpp"
#include "host/measure/host_memory.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::measure {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
// As the runtimes align an allocation, so that every window is as good as one.
constexpr std::uint64_t alignment = 256;

/// Not initialised: the cores that fill it should be those that touch it first.
std::unique_ptr<std::byte[]> allocate_uninitialized(std::uint64_t bytes) {
  try {
    return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
  } catch (const std::bad_alloc&) {
    throw device_error(
        fmt::format("the host has no {} for the input: use a smaller n", format_bytes(bytes)));
  }
}

share own_share(std::uint64_t n, const ranks* among) {
  return among == nullptr ? share{0, n} : share_of(n, among->rank(), among->count());
}

}  // namespace

std::string_view name_of(origin from) {
  constexpr std::string_view names[] = {"exact", "rounding", "file"};
  return names[static_cast<std::size_t>(from)];
}

host_input::host_input(element_type type, std::string op, std::uint64_t n, std::uint64_t seed,
                       origin from, const ranks* among)
    : type_(type),
      op_(std::move(op)),
      n_(n),
      seed_(seed),
      from_(from),
      among_(among),
      part_(own_share(n, among)),
      random_(allocate_uninitialized(part_.count * size_of(type))),
      data_(random_.get()) {
  const auto generate = from == origin::exact ? &generate_exact_input : &generate_input;
  generate(random_.get(), type_, op_, n_, seed, part_);
}

host_input::host_input(npy_file file, std::string op, const ranks* among)
    : type_(file.type()),
      op_(std::move(op)),
      n_(file.n()),
      from_(origin::file),
      among_(among),
      part_(own_share(n_, among)),
      file_(std::move(file)),
      data_(file_->data().data() + part_.first * size_of(type_)) {}

const reference& host_input::expected(std::uint64_t n) {
  const auto [at, is_new] = expected_.try_emplace(n);
  if (!is_new) return at->second;
  reference& r = at->second = make_reference(data_, type_, op_, n, among_);
  if (op_ != "sum" || n == 0) return r;
  r.is_random = from_ == origin::rounding;
  if (from_ == origin::exact) r.model = error_model::exact;
  return r;
}

bool host_input::has_room_for_another() const {
  const int has_room = part_.count <= available_memory() / 4 / size_of(type_);
  if (among_ == nullptr) return has_room != 0;
  return std::ranges::all_of(among_->gather(has_room), [](int has) { return has != 0; });
}

host_input* host_input::companion() {
  const bool has_one = exact_input_matters(type_, op_) && from_ != origin::rounding &&
                       (from_ == origin::file || op_ == "sum");
  if (has_one && companion_ == nullptr && has_room_for_another())
    companion_ = std::make_unique<host_input>(
        type_, op_, n_, seed_, from_ == origin::file ? origin::exact : origin::rounding, among_);
  return companion_.get();
}

const reference& host_input::checksum(std::uint64_t n) {
  const auto [at, is_new] = checksums_.try_emplace(n);
  if (is_new)
    at->second = make_reference(data_, element_type::u32, "bit_xor",
                                n * size_of(type_) / sizeof(std::uint32_t));
  return at->second;
}

input_ring::input_ring(session& on, const host_input& from, std::uint64_t n, std::uint64_t bytes) {
  const std::uint64_t used = n * size_of(from.type());
  stride_ = std::max((used + alignment - 1) / alignment, std::uint64_t{1}) * alignment;
  const std::uint64_t wanted = bytes == 0 ? 0 : std::max(bytes, 2 * stride_);
  windows_ =
      used == 0 ? 1 : std::max<std::uint64_t>(1, std::min(wanted, on.free_bytes() / 2) / stride_);
  memory_ = on.allocate(windows_ == 1 ? used : windows_ * stride_);
  data_ = memory_->data();
  on.upload(memory_->data(), from.data(), used);
  // The device makes two windows of one, four of two and so on: the host is far from its memory.
  for (std::uint64_t made = 1; made < windows_; made *= 2)
    on.produce(memory_->data() + made * stride_, data_, std::min(made, windows_ - made) * stride_);
  on.synchronize();
}

std::uint64_t ring_bytes(const device_properties& device) {
  const std::uint64_t cache = device.last_level_cache_bytes;
  return cache == 0 ? 0 : std::max(4 * cache, gibibyte);
}

}  // namespace tenfold::measure
