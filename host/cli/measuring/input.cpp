#include "host/cli/measuring/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "host/data/npy.hpp"
#include "host/error.hpp"
#include "host/measure/host_memory.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

constexpr std::uint64_t executor_n = std::uint64_t{1} << 20;
constexpr std::uint64_t gpu_n = std::uint64_t{1} << 28;
constexpr std::uint64_t slow_bytes = std::uint64_t{1} << 29;  // seconds to make and to check

/// 2^28 elements or four times the last-level cache, whichever is larger, halved until it fits.
std::uint64_t default_n(element_type type, measure::testbed& bed) {
  if (bed.choice().is_executor()) return executor_n;
  session& on = bed.device();
  const std::uint64_t cache = on.properties().last_level_cache_bytes;
  std::uint64_t n = std::max(gpu_n, std::bit_ceil(4 * cache / size_of(type)));
  // Partials and the runtime itself need room, too.
  const std::uint64_t room = std::min(on.free_bytes() / 10 * 9, measure::available_memory() / 2);
  while (n > 1 && n * size_of(type) > room) n /= 2;
  return n;
}

std::optional<npy_file> open_file(const options& o) {
  if (o.input.empty()) return std::nullopt;
  if (!o.n.empty()) throw input_error("--n and --input exclude each other: the file has its n");
  npy_file file(o.input);
  if (!o.type.empty() && parse_element_type(o.type) != file.type())
    throw input_error(fmt::format(
        "'{}' holds {} elements, --type says {}{}: leave --type out", o.input, name_of(file.type()),
        o.type, o.type == name_of(element_type::bf16) ? ", which is no type of NumPy's" : ""));
  return file;
}

/// @param copies on the host: of what is made there, and of what the executor reads
void check_room(std::uint64_t n, element_type type, std::uint64_t copies, measure::testbed& bed) {
  // A host that overcommits grants what it does not have, and kills the process later.
  const std::uint64_t on_host = measure::available_memory();
  const std::uint64_t on_device = bed.device().free_bytes();
  if (copies != 0 && n > on_host / size_of(type) / copies)
    throw device_error(fmt::format(
        "{} elements of {} do not fit{} into the {} of memory that the host has free: "
        "use a smaller n",
        format_count(n), name_of(type),
        copies == 2 ? " twice, as input and as the executor's copy," : "", format_bytes(on_host)));
  if (n > on_device / size_of(type))
    throw device_error(fmt::format("{} elements of {} need {}, but {} has {} free: use a smaller n",
                                   format_count(n), name_of(type),
                                   n > ~std::uint64_t{0} / size_of(type)
                                       ? "more than any device has"
                                       : format_bytes(n * size_of(type)),
                                   bed.choice().name(), format_bytes(on_device)));
}

}  // namespace

std::string chosen_input::description() const {
  return fmt::format("{} {}", format_count(data.n()), source);
}

chosen_input make_input(const options& o, measure::testbed& bed) {
  std::optional<npy_file> file = open_file(o);
  const element_type type = file             ? file->type()
                            : o.type.empty() ? element_type::f32
                                             : parse_element_type(o.type);
  std::string op = choose_operator(o.op, type);
  const std::uint64_t n = file ? file->n() : o.n.empty() ? default_n(type, bed) : parse_count(o.n);
  check_room(n, type, (file ? 0u : 1u) + (bed.choice().is_executor() ? 1u : 0u), bed);
  if (const std::uint64_t bytes = n * size_of(type); bytes >= slow_bytes)
    announce(fmt::format("preparing {}", format_bytes(bytes)));
  if (file)
    return {{std::move(*file), std::move(op)}, fmt::format("{} from {}", name_of(type), o.input)};
  return {{type, std::move(op), n, o.seed},
          fmt::format("random {} (seed {})", name_of(type), o.seed)};
}

}  // namespace tenfold::cli
