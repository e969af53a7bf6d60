#include "host/cli/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/cli/host_memory.hpp"
#include "host/cli/terminal.hpp"
#include "host/error.hpp"
#include "host/input.hpp"
#include "host/quantity.hpp"

namespace tenfold::cli {
namespace {

constexpr std::uint64_t executor_n = std::uint64_t{1} << 20;
constexpr std::uint64_t gpu_n = std::uint64_t{1} << 28;
constexpr std::uint64_t slow_bytes = std::uint64_t{1} << 29;  // seconds to make and to check

/// 2^28 elements or four times the last-level cache, whichever is larger, halved until it fits.
std::uint64_t default_n(element_type type, const device_choice& choice, session& on) {
  if (choice.is_executor()) return executor_n;
  const std::uint64_t cache = on.properties().last_level_cache_bytes;
  std::uint64_t n = std::max(gpu_n, std::bit_ceil(4 * cache / size_of(type)));
  // Partials and the runtime itself need room, too.
  const std::uint64_t room = std::min(on.free_bytes() / 10 * 9, available_memory() / 2);
  while (n > 1 && n * size_of(type) > room) n /= 2;
  return n;
}

}  // namespace

workload::workload(const options& o, const device_choice& choice, session& on) : on_(on) {
  if (!o.input.empty()) {
    if (!o.n.empty()) throw input_error("--n and --input exclude each other: the file has its n");
    file_.emplace(o.input);
    type_ = file_->type();
    if (!o.type.empty() && parse_element_type(o.type) != type_)
      throw input_error(fmt::format(
          "'{}' holds {} elements, --type says {}{}: leave --type out", o.input, name_of(type_),
          o.type, o.type == name_of(element_type::bf16) ? ", which is no type of NumPy's" : ""));
  } else if (!o.type.empty()) {
    type_ = parse_element_type(o.type);
  }
  op_ = choose_operator(o.op, type_);
  choose_size(o, choice, on);
  fill(o);
  shrink_to(n_);
}

void workload::shrink_to(std::uint64_t n) {
  n_ = n;
  copy();
  reference_ = make_reference(host_.data(), type_, op_, n_);
  checksum_.reset();
}

const reference& workload::checksum() {
  if (!checksum_)
    checksum_ =
        make_reference(host_.data(), element_type::u32, "bit_xor", bytes() / sizeof(std::uint32_t));
  return *checksum_;
}

std::string workload::description() const {
  return fmt::format("{} {}", format_count(n_), source_);
}

void workload::choose_size(const options& o, const device_choice& choice, session& on) {
  if (file_)
    n_ = file_->n();
  else
    n_ = o.n.empty() ? default_n(type_, choice, on) : parse_count(o.n);
  // A host that overcommits grants what it does not have, and kills the process later.
  const std::uint64_t copies = (file_ ? 0u : 1u) + (choice.is_executor() ? 1u : 0u);
  const std::uint64_t on_host = available_memory(), on_device = on.free_bytes();
  if (copies != 0 && n_ > on_host / size_of(type_) / copies)
    throw device_error(fmt::format(
        "{} elements of {} do not fit{} into the {} of memory that the host has free: "
        "use a smaller n",
        format_count(n_), name_of(type_),
        copies == 2 ? " twice, as input and as the executor's copy," : "", format_bytes(on_host)));
  if (n_ > on_device / size_of(type_))
    throw device_error(fmt::format("{} elements of {} need {}, but {} has {} free: use a smaller n",
                                   format_count(n_), name_of(type_),
                                   n_ > ~std::uint64_t{0} / size_of(type_)
                                       ? "more than any device has"
                                       : format_bytes(bytes()),
                                   choice.name(), format_bytes(on_device)));
}

void workload::fill(const options& o) {
  if (bytes() >= slow_bytes) announce(fmt::format("preparing {}", format_bytes(bytes())));
  if (file_) {
    host_ = file_->data();
    source_ = fmt::format("{} from {}", name_of(type_), o.input);
    return;
  }
  try {
    random_.resize(bytes());
  } catch (const std::bad_alloc&) {
    throw device_error(
        fmt::format("the host has no {} for the input: use a smaller n", format_bytes(bytes())));
  }
  generate_input(random_.data(), type_, op_, n_, o.seed);
  host_ = random_;
  source_ = fmt::format("random {} (seed {})", name_of(type_), o.seed);
}

void workload::copy() {
  copies_.clear();
  // Between two uses of a copy, the others push it out of the last-level cache.
  const std::uint64_t cache = on_.properties().last_level_cache_bytes;
  const std::uint64_t wanted = cache == 0 || bytes() == 0 ? 1 : 1 + 2 * cache / bytes();
  const std::uint64_t fitting =
      std::max<std::uint64_t>(1, on_.free_bytes() / 2 / std::max<std::uint64_t>(1, bytes()));
  const std::uint64_t count = std::min({wanted, fitting, std::uint64_t{4096}});
  for (std::uint64_t i = 0; i < count; ++i) {
    copies_.push_back(on_.allocate(bytes()));
    on_.upload(copies_.back()->data(), host_.data(), bytes());
  }
}

const void* workload::next_copy() {
  return copies_[turn_++ % copies_.size()]->data();
}

}  // namespace tenfold::cli
