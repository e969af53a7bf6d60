#include "host/observe/memory_map.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <span>

#include "host/simt/kernel_symbols.hpp"

namespace tenfold::observe {
namespace {

std::uintptr_t address_of(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

/// As stages call the parameters of their kernels.
std::string parameter_name(std::size_t position) {
  constexpr std::array names{"in", "out", "n", "op", "partials", "ticket"};
  return position < names.size() ? names[position] : fmt::format("parameter {}", position + 1);
}

std::size_t distance(const array& a, std::uintptr_t address) {
  if (address < a.begin) return a.begin - address;
  return address - a.begin < a.bytes ? 0 : address - a.begin - a.bytes + 1;
}

std::vector<address_range> find_segments() {
  std::vector<address_range> found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* list) {
        for (const ElfW(Phdr) & each : std::span(object->dlpi_phdr, object->dlpi_phnum))
          if (each.p_type == PT_LOAD)
            static_cast<std::vector<address_range>*>(list)->push_back(
                {object->dlpi_addr + each.p_vaddr, each.p_memsz});
        return 0;
      },
      &found);
  std::ranges::sort(found, {}, &address_range::begin);
  return found;
}

std::vector<array> find_variables() {
  std::vector<array> found;
  for (const simt::program_variable& each : simt::program_variables())
    found.push_back({.in = space::global,
                     .name = each.name,
                     .begin = each.address,
                     .bytes = each.size,
                     .is_variable = true,
                     .first = each.address});
  return found;
}

/// What is known of the program and its libraries, by address.
struct program_map {
  std::size_t objects = 0;
  std::vector<address_range> segments;
  std::vector<array> variables;
};

std::mutex program_mutex;
std::list<program_map> program_maps;  // old ones stay, for those who still point into them
std::atomic<const program_map*> newest_map = nullptr;

/// Of everything that a kernel has been launched from.
const program_map& loaded_program() {
  const program_map* known = newest_map;
  if (known != nullptr && known->objects == simt::loaded_objects()) return *known;
  const std::scoped_lock lock(program_mutex);
  if (program_maps.empty() || program_maps.back().objects != simt::loaded_objects())
    program_maps.push_back({simt::loaded_objects(), find_segments(), find_variables()});
  newest_map = &program_maps.back();
  return program_maps.back();
}

/// The last range that begins at the address or before; null where there is none.
template <typename Range>
const Range* last_before(const std::vector<Range>& sorted, std::uintptr_t address) {
  const auto after = std::ranges::upper_bound(sorted, address, {}, &Range::begin);
  return after == sorted.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

bool is_position(std::uintptr_t address) {
  const auto hits = [&](const auto& word) {
    return address_range{address_of(&word), sizeof word}.holds(address);
  };
  return hits(threadIdx) || hits(blockIdx) || hits(blockDim) || hits(gridDim) || hits(warpSize);
}

bool is_in_program(std::uintptr_t address) {
  const address_range* const segment = last_before(loaded_program().segments, address);
  return segment != nullptr && segment->holds(address);
}

const array* find_variable(std::uintptr_t address) {
  const array* const variable = last_before(loaded_program().variables, address);
  return variable != nullptr && variable->contains(address, 1) ? variable : nullptr;
}

std::string name_element(const array& a, std::uintptr_t address, std::size_t access_bytes) {
  const auto offset = static_cast<std::int64_t>(address - a.first);
  const auto unit = static_cast<std::int64_t>(
      std::max<std::size_t>(a.element_bytes != 0 ? a.element_bytes : access_bytes, 1));
  const std::int64_t byte = (offset % unit + unit) % unit;
  const std::string element = fmt::format("{}[{}]", a.name, (offset - byte) / unit);
  return byte == 0 ? element : fmt::format("{}, byte {}", element, byte);
}

// ---- the map ------------------------------------------------------------------------------------

void memory_map::allocated(const void* memory, std::size_t bytes) {
  const std::uintptr_t begin = address_of(memory);
  allocations_[begin] = {
      .in = space::global, .name = "", .begin = begin, .bytes = bytes, .first = begin};
}

void memory_map::released(const void* memory) {
  allocations_.erase(address_of(memory));
}

void memory_map::begin_launch(const simt::launch_facts& launch) {
  std::size_t unnamed = 0;
  for (auto& [begin, each] : allocations_) {
    each.name = fmt::format("allocation {}", ++unnamed);
    each.element_bytes = 0;
    each.first = begin;
  }
  // Backwards: of two parameters for the same memory the first gives the name.
  for (std::size_t i = launch.arguments.size(); i-- != 0;) {
    const simt::pointer_argument& argument = launch.arguments[i];
    const array* const of = find_from(address_of(argument.value));
    if (of == nullptr) continue;
    array& named = allocations_.at(of->begin);
    named.name = parameter_name(argument.position);
    named.element_bytes = argument.element_bytes;
    named.first = address_of(argument.value);
  }
}

void memory_map::begin_block(const simt::launch_facts& launch, const simt::block_memory& memory) {
  stacks_ = {address_of(memory.stacks.data()), memory.stacks.size()};
  shared_.clear();
  for (const simt::shared_area& area : memory.shared) {
    const bool is_dynamic = area.name.empty();
    // Without dynamic shared memory its pointer still says what was meant.
    if (area.bytes.empty() && !(is_dynamic && launch.dynamic_shared_bytes == 0)) continue;
    const std::uintptr_t begin = address_of(area.bytes.data());
    shared_.push_back({.in = space::shared,
                       .name = is_dynamic ? "shared" : std::string(area.name),
                       .begin = begin,
                       .bytes = area.bytes.size(),
                       .is_dynamic = is_dynamic,
                       .first = begin});
  }
}

std::optional<space> memory_map::space_of(std::uintptr_t address) const {
  if (const array* of = find(address)) return of->in;
  if (stacks_.holds(address) || is_position(address)) return space::own;
  if (is_in_program(address)) return space::constant;
  return std::nullopt;
}

const array* memory_map::find(std::uintptr_t address) const {
  for (const array& each : shared_)
    if (each.contains(address, 1)) return &each;
  const array* const from = find_from(address);
  return from != nullptr && from->contains(address, 1) ? from : find_variable(address);
}

const array* memory_map::find_from(std::uintptr_t address) const {
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const array& before = std::prev(after)->second;
  return before.contains(address, 0) ? &before : nullptr;
}

const array* memory_map::nearest(std::uintptr_t address) const {
  const array* best = nullptr;
  const auto look_at = [&](const array& each) {
    if (best == nullptr || distance(each, address) < distance(*best, address)) best = &each;
  };
  for (const auto& [begin, each] : allocations_) look_at(each);
  for (const array& each : shared_) look_at(each);
  return best;
}

std::string memory_map::name(std::uintptr_t address, std::size_t access_bytes) const {
  const array* of = find(address);
  if (of == nullptr) of = nearest(address);
  if (of == nullptr) return fmt::format("address {:#x}", address);
  return name_element(*of, address, access_bytes);
}

}  // namespace tenfold::observe
