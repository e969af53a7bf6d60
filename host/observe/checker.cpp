#include "host/observe/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "host/simt/kernel_symbols.hpp"

namespace tenfold::observe {
namespace {

bool is_read(action what) {
  return what != action::write && what != action::bulk_write;
}

std::string_view doing(action what) {
  switch (what) {
    case action::write:
      return "writes";
    case action::atomic:
      return "changes atomically";
    case action::bulk_read:
      return "has hardware copy from";
    case action::bulk_write:
      return "has hardware copy to";
    default:
      return "reads";
  }
}

std::string_view done(action what) {
  if (what == action::atomic) return "changed atomically";
  return is_read(what) ? "read" : "written";
}

std::string_view what_is_missing(finding_kind race) {
  switch (race) {
    case finding_kind::block_race:
      return "by two warps with no block barrier between";
    case finding_kind::warp_race:
      return "by two lanes of a warp with no warp barrier between";
    case finding_kind::shuffle_race:
      return "by two lanes of a warp with nothing but a shuffle or vote between";
    default:
      return "by two blocks of a launch, and nothing orders the two";
  }
}

std::string remedy_of_bounds(const array& a) {
  if (a.in == space::global)
    return "Let no thread go further than the last element, as in if (i < n).";
  return a.is_dynamic
             ? "Give the launch more dynamic shared memory, or let no thread index beyond it."
             : "Declare the array larger, or let no thread index beyond it.";
}

}  // namespace

template <typename Describe>
void finding_list::add(const key& same, Describe&& describe) {
  const auto found = std::ranges::find(keys_, same);
  if (found != keys_.end()) {
    ++all_[static_cast<std::size_t>(found - keys_.begin())].count;
    return;
  }
  all_.push_back(describe());
  keys_.push_back(same);
}

void finding_list::drop_consequences(std::size_t kept, bool of_grid) {
  constexpr std::array consequences{finding_kind::block_race, finding_kind::warp_race,
                                    finding_kind::shuffle_race, finding_kind::uninitialised_read,
                                    finding_kind::grid_race};
  const auto last = consequences.end() - (of_grid ? 0 : 1);
  for (std::size_t i = all_.size(); i-- > kept;)
    if (std::find(consequences.begin(), last, all_[i].kind) != last) {
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
      keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

template <typename Describe>
void checker::report(finding_kind kind, const std::string& array_name, const access& by,
                     const std::optional<access>& earlier, Describe&& describe) {
  const code_address other = earlier ? earlier->where : by.where;
  const finding_list::key same{kind, std::min(by.where, other), std::max(by.where, other), kernel_,
                               array_name};
  findings_.add(same, [&] {
    finding f = new_finding(kind);
    describe(f);
    f.witnesses.push_back(witness_of(by));
    if (earlier) f.witnesses.push_back(witness_of(*earlier));
    return f;
  });
}

// ---- memory and launches ------------------------------------------------------------------------

void checker::allocated(const void* memory, std::size_t bytes) {
  memory_.allocated(memory, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  global_shadows_.insert_or_assign(begin, shadow_array(memory_.allocations().at(begin)));
  last_shadow_ = nullptr;
}

void checker::released(const void* memory) {
  memory_.released(memory);
  global_shadows_.erase(reinterpret_cast<std::uintptr_t>(memory));
  last_shadow_ = nullptr;
}

void checker::written_by_host(const void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const array* of = memory_.find(address);
  if (of == nullptr) return;
  const auto shadow = global_shadows_.find(of->begin);
  if (shadow != global_shadows_.end())
    shadow->second.mark_written(address, std::min(bytes, of->begin + of->bytes - address));
}

void checker::begin_launch(const simt::launch_facts& launch) {
  if (launch.kernel != nullptr) {
    kernel_ = launch.kernel->name;
    kernel_code_ = {launch.kernel->begin - code_begin, launch.kernel->bytes};
  }
  warp_size_ = launch.warp_size;
  has_failed_ = false;
  blocks_.clear();
  grid_barriers_ = 0;
  found_before_in_grid_ = findings_.all().size();
  recorders_.begin_launch();
  memory_.begin_launch(launch);
  for (auto& [begin, shadow] : global_shadows_)
    if (!shadow.of().is_variable) shadow.rename(memory_.allocations().at(begin));
  order_.begin_launch();
  expect_coverage();
}

void checker::end_launch() {
  if (coverage_ && !has_failed_) check_coverage();
  coverage_.reset();
}

void checker::begin_block(const simt::launch_facts& launch, simt::index3 block,
                          const simt::block_memory& memory) {
  turn_to(launch, block, memory);
  for (const array& each : memory_.shared()) {
    const auto shadow = shared_shadows_.find(each.begin);
    if (shadow == shared_shadows_.end()) continue;
    if (shadow->second.of().bytes == each.bytes && shadow->second.of().name == each.name)
      shadow->second.forget();
    else
      shared_shadows_.erase(shadow);
  }
}

/// What the block does from here on is the next that is read.
void checker::turn_to(const simt::launch_facts& launch, simt::index3 block,
                      const simt::block_memory& memory) {
  blocks_.push_back(block);
  memory_.begin_block(launch, memory);
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  order_.begin_block(threads, launch.warp_size);
  last_code_.assign(threads, 0);
  had_bad_address_ = false;
  found_before_ = findings_.all().size();
  last_shadow_ = nullptr;
}

void checker::pass_block_barrier() {
  end_interval();
  order_.pass_block_barrier();
}

/// What any block did before the barrier comes before what any does after it, as between launches.
void checker::go_on(const simt::launch_facts& launch, simt::index3 block,
                    const simt::block_memory& memory, unsigned grid_barriers) {
  if (grid_barriers > grid_barriers_) {
    grid_barriers_ = grid_barriers;
    found_before_in_grid_ = findings_.all().size();
    order_.pass_grid_barrier();
  }
  turn_to(launch, block, memory);
}

void checker::end_interval() {
  for (const early_read& each : early_reads_)
    report_unwritten(each.by, *find_shadow(each.address, 1), each.address);
  early_reads_.clear();
  found_before_ = findings_.all().size();
}

void checker::end_block(const simt::block_failure& failure) {
  const std::size_t found_before = found_before_;
  end_interval();
  if (failure.kind == simt::failure_kind::none) return;
  has_failed_ = true;
  if (failure.text.empty()) return;  // another block's failure ended it
  const bool is_address = failure.kind == simt::failure_kind::bad_address ||
                          failure.kind == simt::failure_kind::misaligned;
  if (is_address && had_bad_address_) return;  // the access itself has been reported
  finding f = new_finding({});
  describe(failure,
           is_address ? memory_.name(reinterpret_cast<std::uintptr_t>(failure.address)) : "",
           last_code_, f);
  const bool is_of_grid = failure.kind == simt::failure_kind::missing_block;
  // Threads that went past a barrier race with those that wait there: that follows from it.
  if (f.kind == finding_kind::divergent_barrier || f.kind == finding_kind::divergent_collective)
    findings_.drop_consequences(is_of_grid ? found_before_in_grid_ : found_before, is_of_grid);
  const auto place = [&](std::size_t i) {
    if (i >= f.witnesses.size()) return code_address{0};
    return f.witnesses[i].pc.value_or(static_cast<code_address>(f.witnesses[i].place.line));
  };
  findings_.add({f.kind, std::min(place(0), place(1)), std::max(place(0), place(1)), kernel_, ""},
                [&] { return f; });
}

// ---- steps --------------------------------------------------------------------------------------

void checker::read(const step& s) {
  switch (s.what) {
    case action::warp_barrier:
      return order_.pass_warp_barrier(s.warp, s.lanes);
    case action::shuffle:
    case action::vote:
      return order_.exchange(s.warp, s.lanes);
    case action::fence:
      return order_.fence(s.warp, s.lanes, fence_scope::device);
    case action::block_fence:
      return order_.fence(s.warp, s.lanes, fence_scope::block);
    case action::block_barrier:
      return;
    default:
      break;
  }
  // A line of the kernel says more than one of what it calls.
  const bool is_in_kernel = kernel_code_.bytes == 0 || kernel_code_.holds(s.where);
  for_each_lane(s.lanes, [&](unsigned lane) {
    if (is_in_kernel) last_code_[s.warp * warp_size_ + lane] = s.where;
    if (s.what != action::basic_block)
      check({{order_.now(s.warp, lane), s.where, s.what},
             (*s.addresses)[lane],
             s.bytes,
             s.is_packed});
  });
}

void checker::check(const lane_access& a) {
  shadow_array* const shadow = find_shadow(a.address, a.bytes);
  if (shadow == nullptr) {
    const std::optional<space> in = memory_.space_of(a.address);
    if (in != space::own && in != space::constant) report_out_of_bounds(a);
    return;
  }
  check_alignment(a, *shadow);
  if (is_read(a.by.what)) check_written(a, *shadow);
  if (coverage_ && is_read(a.by.what)) count_reads(a, *shadow);
  check_order(a, *shadow);
  if (!early_reads_.empty() && !is_read(a.by.what)) forgive_early_reads(a);
  if (!is_read(a.by.what) || a.by.what == action::atomic) shadow->mark_written(a.address, a.bytes);
  if (a.by.what == action::atomic) order_.use_atomic(a.by.when, a.address);
}

shadow_array* checker::find_shadow(std::uintptr_t address, std::size_t bytes) {
  if (last_shadow_ != nullptr && last_shadow_->of().contains(address, bytes)) return last_shadow_;
  const array* const of = memory_.find(address);
  if (of == nullptr || !of->contains(address, bytes)) return nullptr;
  auto& shadows = of->in == space::shared ? shared_shadows_ : global_shadows_;
  const auto [shadow, is_new] = shadows.try_emplace(of->begin, *of);
  if (is_new && of->is_variable) shadow->second.mark_written(of->begin, of->bytes);
  return last_shadow_ = &shadow->second;
}

void checker::check_alignment(const lane_access& a, const shadow_array& shadow) {
  constexpr std::size_t widest = 16;
  const std::size_t unit = std::min(a.bytes, widest);
  if (a.is_packed || !std::has_single_bit(unit) || a.address % unit == 0) return;
  had_bad_address_ = true;
  report(finding_kind::misaligned_access, shadow.of().name, a.by, std::nullopt, [&](finding& f) {
    f.address = shadow.name(a.address);
    f.what = fmt::format("{} bytes at once are {} at {}, whose address is no multiple of {}",
                         a.bytes, done(a.by.what), f.address, unit);
    f.remedy = fmt::format(
        "Take {} bytes at once only where gpu::is_vector_aligned says so, and single "
        "elements elsewhere.",
        a.bytes);
  });
}

void checker::check_written(const lane_access& a, const shadow_array& shadow) {
  const std::size_t unwritten = shadow.first_unwritten(a.address, a.bytes);
  if (unwritten == a.bytes) return;
  const std::uintptr_t address = a.address + unwritten;
  if (shadow.of().in == space::shared)
    early_reads_.push_back({a, address});
  else
    report_unwritten(a, shadow, address);
}

/// Forgets reads of unwritten memory if this write is not ordered after them. They are reported as
/// races with the write, and that is enough.
void checker::forgive_early_reads(const lane_access& write) {
  std::erase_if(early_reads_, [&](const early_read& each) {
    return each.address - write.address < write.bytes &&
           !order_.precedes(each.by.by.when, write.by.when);
  });
}

void checker::report_unwritten(const lane_access& a, const shadow_array& shadow,
                               std::uintptr_t address) {
  report(finding_kind::uninitialised_read, shadow.of().name, a.by, std::nullopt, [&](finding& f) {
    const bool is_shared = shadow.of().in == space::shared;
    f.address = shadow.name(address);
    f.what = fmt::format("{} is read and {} has written it", f.address,
                         is_shared ? "no thread of the block" : "neither the host nor a kernel");
    f.remedy =
        is_shared
            ? "Have every element that is read written before, by the operator's identity where "
              "there is none, and a __syncthreads() between."
            : "Write the memory before the launch, or read no further than what was written.";
  });
}

// ---- races --------------------------------------------------------------------------------------

void checker::check_order(const lane_access& a, shadow_array& shadow) {
  const std::span<shadow_cell> cells = shadow.cells(a.address, a.bytes);
  bool is_reported = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    shadow_cell& cell = cells[i];
    if (!is_reported)
      if (const std::optional<access> earlier = find_race(a.by, cell)) {
        report_race(a, *earlier, shadow, a.address + i * a.bytes / cells.size());
        is_reported = true;
      }
    if (!is_read(a.by.what))
      cell.overwrite(a.by);
    else
      cell.add(a.by, order_);
  }
}

std::optional<access> checker::find_race(const access& by, const shadow_cell& cell) const {
  if (cell.write.when.interval != 0 && !order_.precedes(cell.write.when, by.when))
    return cell.write;
  const bool conflicts =
      !is_read(by.what) || (by.what == action::atomic ? cell.was_read() : cell.was_atomic());
  return conflicts ? find_unordered(by, cell) : std::nullopt;
}

std::optional<access> checker::find_unordered(const access& by, const shadow_cell& cell) const {
  std::optional<access> found;
  cell.for_each_group([&](const access_group& each) {
    const bool conflicts =
        !is_read(by.what) || (by.what == action::atomic) != (each.what == action::atomic);
    if (found || !conflicts || order_.all_precede(each.interval, each.time, each.warp, by.when))
      return;
    for (std::uint64_t left = each.lanes; left != 0 && !found; left &= left - 1) {
      const access earlier = each.by(first_lane(left));
      if (!order_.precedes(earlier.when, by.when)) found = earlier;
    }
  });
  return found;
}

finding_kind checker::kind_of_race(const access& later, const access& earlier) const {
  if (!order_.is_of_this_block(earlier.when.interval)) return finding_kind::grid_race;
  if (later.when.warp != earlier.when.warp) return finding_kind::block_race;
  return order_.exchanged_since(earlier.when, later.when) ? finding_kind::shuffle_race
                                                          : finding_kind::warp_race;
}

std::string checker::remedy_of_race(finding_kind kind, const access& later,
                                    const access& earlier) const {
  const bool one_is_atomic = (later.what == action::atomic) != (earlier.what == action::atomic);
  if (later.where == earlier.where && !is_read(later.what) && !one_is_atomic)
    return "Let a single thread write there, or use an atomic such as atomicAdd.";
  switch (kind) {
    case finding_kind::block_race:
      return "Put a __syncthreads() between the two accesses.";
    case finding_kind::warp_race:
      return "Put a gpu::sync_warp() between the two accesses: lanes of a warp need not run in "
             "lockstep.";
    case finding_kind::shuffle_race:
      return "Put a gpu::sync_warp() between the two accesses: a shuffle hands over values and "
             "orders no memory.";
    default:
      break;
  }
  if (one_is_atomic) return "Make both accesses atomic, or have a second launch do the later one.";
  if (order_.needs_only_a_fence(earlier.when, later.when))
    return "Put a __threadfence() between the atomic that tells of the other block and the access "
           "that follows it.";
  return "Put a __threadfence() between the first access and the atomic that tells other blocks of "
         "it, or have a sync() of the grid or a second launch between the two.";
}

void checker::report_race(const lane_access& later, const access& earlier,
                          const shadow_array& shadow, std::uintptr_t address) {
  const finding_kind kind = kind_of_race(later.by, earlier);
  report(kind, shadow.of().name, later.by, earlier, [&](finding& f) {
    std::string both(done(earlier.what));
    if (done(later.by.what) != both) both += fmt::format(" and {}", done(later.by.what));
    f.address = shadow.name(shadow.element_at(address));
    f.what = fmt::format("{} is {} {}", f.address, both, what_is_missing(kind));
    f.remedy = remedy_of_race(kind, later.by, earlier);
  });
}

// ---- outside of arrays --------------------------------------------------------------------------

void checker::report_out_of_bounds(const lane_access& a) {
  had_bad_address_ = true;
  const array* of = memory_.find(a.address);  // of a vector's first element
  if (of == nullptr) of = memory_.nearest(a.address);
  report(finding_kind::out_of_bounds, of == nullptr ? "" : of->name, a.by, std::nullopt,
         [&](finding& f) {
           f.address = memory_.name(a.address, a.bytes);
           if (of == nullptr) {
             f.what = fmt::format("{} is {}, where there is no memory", f.address, done(a.by.what));
             f.remedy = "Hand the kernel a pointer to device memory.";
             return;
           }
           const std::size_t unit = of->element_bytes != 0 ? of->element_bytes : a.bytes;
           const std::size_t count = (of->begin + of->bytes - of->first) / unit;
           f.what = fmt::format("{} is {}{}, but {} has {} {}", f.address, done(a.by.what),
                                a.bytes > unit ? fmt::format(", {} bytes at once", a.bytes) : "",
                                of->name, count, count == 1 ? "element" : "elements");
           f.remedy = remedy_of_bounds(*of);
         });
}

// ---- lost and repeated elements -----------------------------------------------------------------

void checker::expect_coverage() {
  coverage_.reset();
  if (!input_elements_) return;
  for (const auto& [begin, each] : memory_.allocations()) {
    const std::size_t bytes = *input_elements_ * each.element_bytes;
    if (each.name != "in" || bytes == 0 || !each.contains(each.first, bytes)) continue;
    shadow_array& shadow = global_shadows_.at(begin);
    // The partials that a later pass reads are not the host's.
    if (shadow.first_unwritten(each.first, bytes) != bytes ||
        std::ranges::any_of(shadow.cells(each.first, bytes),
                            [](const shadow_cell& cell) { return cell.write.when.interval != 0; }))
      continue;
    coverage_ = {each.first, each.element_bytes, std::vector<std::uint8_t>(*input_elements_)};
  }
}

void checker::count_reads(const lane_access& a, shadow_array& shadow) {
  const auto [first, element_bytes, size] =
      std::tuple(coverage_->first, coverage_->element_bytes, coverage_->reads.size());
  if (shadow.of().first != first || a.address < first) return;
  // An element is read where its first byte is.
  std::size_t element = (a.address - first + element_bytes - 1) / element_bytes;
  for (; element < size && first + element * element_bytes < a.address + a.bytes; ++element) {
    const std::uintptr_t address = first + element * element_bytes;
    const shadow_cell& cell = shadow.cells(address, element_bytes).front();
    if (order_.is_of_this_launch(cell.write.when.interval)) continue;  // a kernel's own value
    std::uint8_t& reads = coverage_->reads[element];
    if (reads++ == 0) continue;
    reads = 2;
    report_repeated(a, shadow, address);
  }
}

void checker::report_repeated(const lane_access& a, shadow_array& shadow, std::uintptr_t address) {
  std::optional<access> earlier;
  const shadow_cell& cell = shadow.cells(address, coverage_->element_bytes).front();
  cell.for_each_group([&](const access_group& each) {
    if (!earlier && order_.is_of_this_launch(each.interval))
      earlier = each.by(first_lane(each.lanes));
  });
  report(finding_kind::repeated_element, shadow.of().name, a.by, earlier, [&](finding& f) {
    f.address = shadow.name(address);
    f.what = fmt::format("{} is read twice, so it is folded twice", f.address);
    f.remedy =
        "Let no two threads come to the same index: a block's first element is its "
        "number times what a block folds.";
  });
}

void checker::check_coverage() {
  const std::vector<std::uint8_t>& reads = coverage_->reads;
  const auto lost = static_cast<std::uint64_t>(std::ranges::count(reads, 0));
  if (lost == 0) return;
  const auto first = std::ranges::find(reads, 0) - reads.begin();
  finding f = new_finding(finding_kind::lost_element);
  f.address = fmt::format("in[{}]", first);
  f.what = lost == 1 ? fmt::format("{} is never read, 1 element of {}", f.address, reads.size())
                     : fmt::format("{} and {} more of {} elements are never read", f.address,
                                   lost - 1, reads.size());
  f.remedy =
      "Let the blocks cover all n elements: round the grid up, and look at the last, ragged "
      "tile.";
  f.count = lost;
  findings_.add({f.kind, 0, 0, kernel_, "in"}, [&] { return f; });
}

// ---- findings -----------------------------------------------------------------------------------

witness checker::witness_of(const access& a) const {
  witness w;
  w.doing = doing(a.what);
  w.block = blocks_[order_.block_of(a.when.interval)];
  w.thread = a.when.warp * warp_size_ + a.when.lane;
  w.threads = fmt::format("{}", *w.thread);
  w.warp = a.when.warp;
  w.lane = a.when.lane;
  w.pc = a.where;
  return w;
}

finding checker::new_finding(finding_kind kind) const {
  return {.kind = kind, .kernel = kernel_, .warp_size = static_cast<int>(warp_size_)};
}

}  // namespace tenfold::observe
