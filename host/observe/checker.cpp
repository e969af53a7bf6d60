#include "host/observe/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "host/simt/kernel_symbols.hpp"

namespace tenfold::observe {
namespace {

bool is_read(action what) {
  return what != action::write && what != action::bulk_write;
}
bool is_plain_write(action what) {
  return what == action::write || what == action::bulk_write;
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

std::string_view counted(std::size_t count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}

}  // namespace

std::string list_threads(const std::vector<unsigned>& threads) {
  std::string text;
  for (std::size_t i = 0; i < threads.size();) {
    std::size_t last = i;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text +=
        last == i ? fmt::format("{}", threads[i]) : fmt::format("{}-{}", threads[i], threads[last]);
    i = last + 1;
  }
  return text;
}

bool finding_list::count_again(const key& same) {
  const auto found = numbers_.find(same);
  if (found == numbers_.end()) return false;
  ++all_[found->second].count;
  return true;
}

void finding_list::add(const key& same, finding what) {
  numbers_.emplace(same, all_.size());
  all_.push_back(std::move(what));
}

// ---- memory and launches ------------------------------------------------------------------------

void checker::allocated(const void* memory, std::size_t bytes) {
  memory_.allocated(memory, bytes);
}

void checker::released(const void* memory) {
  memory_.released(memory);
  global_shadows_.erase(reinterpret_cast<std::uintptr_t>(memory));
  last_shadow_ = nullptr;
}

void checker::written_by_host(const void* memory, std::size_t bytes) {
  memory_.written_by_host(memory, bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const array* of = memory_.find(address);
  if (of == nullptr) return;
  const auto shadow = global_shadows_.find(of->begin);
  if (shadow != global_shadows_.end() && of->contains(address, bytes))
    shadow->second.mark_written(address, bytes);
}

void checker::begin_launch(const simt::launch_facts& launch,
                           std::span<const std::string> parameters) {
  kernel_ = launch.kernel == nullptr ? "" : launch.kernel->name;
  warp_size_ = launch.warp_size;
  has_failed_ = false;
  blocks_.clear();
  memory_.begin_launch(launch, parameters);
  for (auto& [begin, shadow] : global_shadows_) shadow.rename(memory_.arrays().at(begin));
  order_.begin_launch();
  expect_coverage();
}

void checker::end_launch() {
  if (coverage_ && !has_failed_) check_coverage();
  coverage_.reset();
}

void checker::begin_block(const simt::launch_facts& launch, simt::index3 block,
                          const simt::block_memory& memory) {
  blocks_.push_back(block);
  map_.begin_block(launch, memory, memory_);
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  order_.begin_block(threads, launch.warp_size);
  last_places_.assign(threads, 0);
  had_bad_address_ = false;
  last_shadow_ = nullptr;
  for (const array& each : map_.shared()) {
    const auto shadow = shared_shadows_.find(each.begin);
    if (shadow == shared_shadows_.end()) continue;
    if (shadow->second.of().bytes == each.bytes && shadow->second.of().name == each.name)
      shadow->second.forget();
    else
      shared_shadows_.erase(shadow);
  }
}

void checker::end_block(const simt::block_failure& failure) {
  if (failure.kind == simt::failure_kind::none) return;
  has_failed_ = true;
  report_failure(failure);
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
      return order_.fence(s.warp, s.lanes);
    case action::block_barrier:
      return;
    default:
      break;
  }
  for (std::uint64_t left = s.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    last_places_[s.warp * warp_size_ + lane] = s.where;
    if (s.what != action::basic_block)
      check({{order_.now(s.warp, lane), s.where, s.what}, (*s.addresses)[lane], s.bytes});
  }
}

void checker::check(const lane_access& a) {
  shadow_array* const shadow = find_shadow(a.address, a.bytes);
  if (shadow == nullptr) {
    const std::optional<space> in = map_.space_of(a.address);
    if (in != space::own && in != space::constant) report_out_of_bounds(a);
    return;
  }
  check_alignment(a, *shadow);
  if (is_read(a.by.what)) check_written(a, *shadow);
  if (coverage_ && is_read(a.by.what)) count_reads(a, *shadow);
  check_order(a, *shadow);
  if (!is_read(a.by.what) || a.by.what == action::atomic) shadow->mark_written(a.address, a.bytes);
  if (a.by.what == action::atomic) order_.use_atomic(a.by.when, a.address);
}

shadow_array* checker::find_shadow(std::uintptr_t address, std::size_t bytes) {
  if (last_shadow_ == nullptr || !last_shadow_->of().contains(address, bytes)) {
    const array* of = map_.find(address);
    if (of == nullptr || !of->contains(address, bytes)) return nullptr;
    last_shadow_ = make_shadow(*of);
  }
  return last_shadow_;
}

shadow_array* checker::make_shadow(const array& of) {
  auto& shadows = of.in == space::shared ? shared_shadows_ : global_shadows_;
  const auto [shadow, is_new] = shadows.try_emplace(of.begin, of);
  if (is_new && of.in == space::global)
    if (const std::vector<bool>* written = memory_.written(of))
      shadow->second.set_written(*written);
  return &shadow->second;
}

void checker::check_alignment(const lane_access& a, const shadow_array& shadow) {
  constexpr std::size_t widest = 16;
  const std::size_t unit = std::min(a.bytes, widest);
  if (!std::has_single_bit(unit) || a.address % unit == 0) return;
  had_bad_address_ = true;
  if (count_again(finding_kind::misaligned_access, shadow.of().name, a.by)) return;
  const std::string address = shadow.name(a.address);
  report(finding_kind::misaligned_access, shadow.of().name, a, address,
         fmt::format("{} bytes at once are {} at {}, whose address is no multiple of {}", a.bytes,
                     done(a.by.what), address, unit),
         fmt::format("Take {} bytes at once only where gpu::is_vector_aligned says so, and single "
                     "elements elsewhere.",
                     unit));
}

void checker::check_written(const lane_access& a, const shadow_array& shadow) {
  const std::size_t unwritten = shadow.first_unwritten(a.address, a.bytes);
  if (unwritten == a.bytes) return;
  if (count_again(finding_kind::uninitialised_read, shadow.of().name, a.by)) return;
  const bool is_shared = shadow.of().in == space::shared;
  const std::string address = shadow.name(a.address + unwritten);
  report(finding_kind::uninitialised_read, shadow.of().name, a, address,
         fmt::format("{} is read and {}", address,
                     is_shared ? "no thread of the block has written it"
                               : "neither the host nor a kernel has written it"),
         is_shared ? "Have every element of shared memory written before it is read, by the "
                     "operator's identity where there is no element; and a __syncthreads() between."
                   : "Write the memory before the launch, or read no further than what was "
                     "written.");
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
    if (is_plain_write(a.by.what))
      cell.overwrite(a.by);
    else
      cell.add(a.by, order_);
  }
}

std::optional<access> checker::find_race(const access& by, const shadow_cell& cell) const {
  if (cell.write.when.interval != 0 && !order_.precedes(cell.write.when, by.when))
    return cell.write;
  const bool conflicts =
      is_plain_write(by.what) || (by.what == action::atomic ? cell.was_read() : cell.was_atomic());
  return conflicts ? find_unordered(by, cell) : std::nullopt;
}

std::optional<access> checker::find_unordered(const access& by, const shadow_cell& cell) const {
  std::optional<access> found;
  cell.for_each_group([&](const access_group& each) {
    const bool conflicts =
        is_plain_write(by.what) || (by.what == action::atomic) != (each.what == action::atomic);
    if (found || !conflicts || order_.all_precede(each.interval, each.time, each.warp, by.when))
      return;
    for (std::uint64_t left = each.lanes; left != 0 && !found; left &= left - 1) {
      const access earlier = each.by(static_cast<unsigned>(std::countr_zero(left)));
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
         "it, or have a second launch do the later access.";
}

void checker::report_race(const lane_access& later, const access& earlier,
                          const shadow_array& shadow, std::uintptr_t address) {
  const finding_kind kind = kind_of_race(later.by, earlier);
  if (count_again(kind, shadow.of().name, later.by, earlier)) return;
  const std::string element = shadow.name(shadow.element_at(address));
  const auto describe = [&](std::string_view one, std::string_view other) {
    return fmt::format("{} is {} by one {} and {} by another {}", element, done(later.by.what), one,
                       done(earlier.what), other);
  };
  std::string what;
  if (kind == finding_kind::block_race)
    what = describe("warp", "with no block barrier between");
  else if (kind == finding_kind::grid_race)
    what = describe("block", "of the same launch, and nothing orders the two");
  else if (kind == finding_kind::shuffle_race)
    what = describe("lane", "of its warp with nothing but a shuffle or vote between");
  else
    what = describe("lane", "of its warp with no warp barrier between");
  report(kind, shadow.of().name, later, element, std::move(what),
         remedy_of_race(kind, later.by, earlier), earlier);
}

// ---- outside of arrays --------------------------------------------------------------------------

void checker::report_out_of_bounds(const lane_access& a) {
  had_bad_address_ = true;
  const array* of = map_.find(a.address);
  if (of == nullptr) of = map_.nearest(a.address);
  if (count_again(finding_kind::out_of_bounds, of == nullptr ? "" : of->name, a.by)) return;
  const std::string address = map_.name(a.address, a.bytes);
  if (of == nullptr)
    return report(finding_kind::out_of_bounds, "", a, address,
                  fmt::format("{} is {}, where there is no memory", address, done(a.by.what)),
                  "Hand the kernel a pointer to device memory.");
  const std::size_t unit = of->element_bytes != 0 ? of->element_bytes : a.bytes;
  const std::size_t count = (of->begin + of->bytes - of->first) / unit;
  std::string what = fmt::format("{} is {}, but {} has {} {}", address, done(a.by.what), of->name,
                                 count, counted(count, "element", "elements"));
  if (a.bytes > unit) what += fmt::format("; {} bytes at once", a.bytes);
  std::string remedy = "Let no thread go further than the last element, as in if (i < n).";
  if (of->is_dynamic)
    remedy = "Give the launch more dynamic shared memory, or let no thread index beyond it.";
  else if (of->in == space::shared)
    remedy = "Declare the array larger, or let no thread index beyond it.";
  report(finding_kind::out_of_bounds, of->name, a, address, std::move(what), std::move(remedy));
}

// ---- lost and repeated elements -----------------------------------------------------------------

void checker::expect_coverage() {
  coverage_.reset();
  if (!input_elements_) return;
  for (const auto& [begin, each] : memory_.arrays()) {
    const std::size_t bytes = *input_elements_ * each.element_bytes;
    if (each.name != "in" || bytes == 0 || !each.contains(each.first, bytes)) continue;
    const std::vector<bool>& written = *memory_.written(each);
    const auto first = written.begin() + static_cast<std::ptrdiff_t>(each.first - begin);
    // The partials that a later pass reads are not the host's.
    if (std::find(first, first + static_cast<std::ptrdiff_t>(bytes), false) !=
        first + static_cast<std::ptrdiff_t>(bytes))
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
    std::uint8_t& reads = coverage_->reads[element];
    if (reads++ == 0) continue;
    reads = 2;
    report_repeated(a, shadow, first + element * element_bytes);
  }
}

void checker::report_repeated(const lane_access& a, shadow_array& shadow, std::uintptr_t address) {
  std::optional<access> earlier;
  const shadow_cell& cell = shadow.cells(address, coverage_->element_bytes).front();
  cell.for_each_group([&](const access_group& each) {
    if (!earlier && order_.is_of_this_launch(each.interval))
      earlier = each.by(static_cast<unsigned>(std::countr_zero(each.lanes)));
  });
  const std::string element = shadow.name(address);
  report(
      finding_kind::repeated_element, shadow.of().name, a, element,
      fmt::format("{} is read twice, so it is folded twice", element),
      "Let the indices of threads and blocks meet nowhere: a block's first element is its number "
      "times what a block folds.",
      earlier);
}

void checker::check_coverage() {
  const std::vector<std::uint8_t>& reads = coverage_->reads;
  const auto lost = static_cast<std::uint64_t>(std::count(reads.begin(), reads.end(), 0));
  if (lost == 0) return;
  const auto first = std::find(reads.begin(), reads.end(), 0) - reads.begin();
  finding f = new_finding(finding_kind::lost_element);
  f.address = fmt::format("in[{}]", first);
  f.what = lost == 1 ? fmt::format("{} is never read, 1 element of {}", f.address, reads.size())
                     : fmt::format("{} and {} more of {} elements are never read", f.address,
                                   lost - 1, reads.size());
  f.remedy =
      "Let the blocks cover all n elements: round the grid up, and look at the last, ragged "
      "tile.";
  f.count = lost;
  const finding_list::key same{f.kind, kernel_, "in", 0, 0};
  if (!findings_.count_again(same)) findings_.add(same, std::move(f));
}

// ---- failures of the executor -------------------------------------------------------------------

namespace {

using simt::failure_kind;

bool waits_at_barrier(const simt::failed_thread& t) {
  return t.doing != nullptr && std::string_view(t.doing) == "__syncthreads";
}

finding_kind kind_of(const simt::block_failure& failure) {
  switch (failure.kind) {
    case failure_kind::different_barriers:
      return finding_kind::divergent_barrier;
    case failure_kind::never_all_there:
      return std::any_of(failure.threads.begin(), failure.threads.end(), waits_at_barrier)
                 ? finding_kind::divergent_barrier
                 : finding_kind::divergent_collective;
    case failure_kind::not_in_own_mask:
    case failure_kind::different_collectives:
    case failure_kind::silent_source:
      return finding_kind::divergent_collective;
    case failure_kind::bad_address:
      return finding_kind::out_of_bounds;
    case failure_kind::misaligned:
      return finding_kind::misaligned_access;
    case failure_kind::stopped:
      return finding_kind::endless_loop;
    default:
      return finding_kind::fault;
  }
}

std::string what_of(const simt::block_failure& failure) {
  switch (failure.kind) {
    case failure_kind::different_barriers:
      return "threads of a block wait at different barriers";
    case failure_kind::never_all_there:
      return kind_of(failure) == finding_kind::divergent_barrier
                 ? "a block barrier that not all threads of the block reach"
                 : "a collective that not all lanes of its mask reach";
    case failure_kind::not_in_own_mask:
      return "a lane calls a collective with a mask that leaves the lane itself out";
    case failure_kind::different_collectives:
      return "lanes of a warp wait in different collectives";
    case failure_kind::silent_source:
      return "a shuffle reads a lane that takes no part: outside of the mask, or returned";
    case failure_kind::stopped:
      return "a thread runs on and on, without a barrier and without an end";
    default:
      return failure.text;
  }
}

std::string remedy_of(const simt::block_failure& failure) {
  switch (failure.kind) {
    case failure_kind::different_barriers:
      return "Have all threads of the block reach the same __syncthreads(): move it out of the "
             "branch.";
    case failure_kind::never_all_there:
      if (kind_of(failure) == finding_kind::divergent_barrier)
        return "Move the __syncthreads() out of the branch, and let no thread return before it.";
      [[fallthrough]];
    case failure_kind::different_collectives:
      return "Have all lanes of the mask reach the same call: move it out of the branch, or let "
             "the "
             "mask name no lane but those that come.";
    case failure_kind::not_in_own_mask:
      return "Name every lane that calls in its mask.";
    case failure_kind::silent_source:
      return "Name every lane that is read in the mask, and let none return before.";
    case failure_kind::bad_address:
      return "Let no thread go further than the last element, as in if (i < n).";
    case failure_kind::misaligned:
      return "Take vectors only where gpu::is_vector_aligned says so, and single elements "
             "elsewhere.";
    case failure_kind::stack_overflow:
      return "Keep large arrays in shared memory, and let no recursion go without end.";
    case failure_kind::bad_division:
      return "Check the divisor before the division.";
    case failure_kind::stopped:
      return "Check that the loop's condition becomes false: what it halves must come to zero, "
             "what "
             "it waits for must be written by somebody who runs.";
    default:
      return "Let a kernel neither throw nor trap.";
  }
}

}  // namespace

/// Threads that do the same at the same place are one witness.
std::vector<witness> checker::witnesses_of(const simt::block_failure& failure) const {
  std::vector<witness> witnesses;
  std::vector<std::vector<unsigned>> threads;
  for (const simt::failed_thread& each : failure.threads) {
    witness w;
    w.block = failure.block;
    w.thread = each.thread;
    w.warp = each.thread / warp_size_;
    w.lane = each.thread % warp_size_;
    w.doing = each.doing != nullptr ? fmt::format("waits in {}", each.doing)
              : failure.kind == failure_kind::never_all_there ? "has returned"
                                                              : "runs";
    if (each.where.file != nullptr)
      w.place = {each.where.file, each.where.line};
    else if (failure.kind != failure_kind::never_all_there)
      w.pc = last_places_[each.thread];
    const auto same = std::find_if(witnesses.begin(), witnesses.end(), [&](const witness& other) {
      return other.doing == w.doing && other.place.line == w.place.line &&
             other.place.file == w.place.file && other.pc == w.pc;
    });
    const auto group = static_cast<std::size_t>(same - witnesses.begin());
    if (same == witnesses.end()) {
      witnesses.push_back(std::move(w));
      threads.emplace_back();
    }
    threads[group].push_back(each.thread);
  }
  for (std::size_t i = 0; i < witnesses.size(); ++i) {
    witnesses[i].threads = list_threads(threads[i]);
    if (threads[i].size() > 1) witnesses[i].thread.reset();
  }
  return witnesses;
}

void checker::report_failure(const simt::block_failure& failure) {
  const finding_kind kind = kind_of(failure);
  const bool is_address =
      failure.kind == failure_kind::bad_address || failure.kind == failure_kind::misaligned;
  if (is_address && had_bad_address_) return;  // the access itself has been reported
  finding f = new_finding(kind);
  f.what = what_of(failure);
  f.remedy = remedy_of(failure);
  f.witnesses = witnesses_of(failure);
  if (is_address) {
    f.address = map_.name(reinterpret_cast<std::uintptr_t>(failure.address));
    f.what = kind == finding_kind::out_of_bounds
                 ? fmt::format("{} is touched, where there is no memory", f.address)
                 : fmt::format("a vector is loaded from {}, which is not aligned to its size",
                               f.address);
  }
  const auto place = [&](std::size_t i) -> code_place {
    if (i >= f.witnesses.size()) return 0;
    return f.witnesses[i].pc.value_or(static_cast<code_place>(f.witnesses[i].place.line));
  };
  const finding_list::key same{kind, kernel_, "", place(0), place(1)};
  if (!findings_.count_again(same)) findings_.add(same, std::move(f));
}

// ---- findings -----------------------------------------------------------------------------------

void checker::report(finding_kind kind, const std::string& array_name, const lane_access& a,
                     std::string address, std::string what, std::string remedy,
                     const std::optional<access>& earlier) {
  finding f = new_finding(kind);
  f.address = std::move(address);
  f.what = std::move(what);
  f.remedy = std::move(remedy);
  f.witnesses.push_back(witness_of(a.by));
  if (earlier) f.witnesses.push_back(witness_of(*earlier));
  findings_.add(key_of(kind, array_name, a.by, earlier), std::move(f));
}

finding_list::key checker::key_of(finding_kind kind, const std::string& array_name,
                                  const access& by, const std::optional<access>& earlier) const {
  const code_place other = earlier ? earlier->where : by.where;
  return {kind, kernel_, array_name, std::min(by.where, other), std::max(by.where, other)};
}

bool checker::count_again(finding_kind kind, const std::string& array_name, const access& by,
                          const std::optional<access>& earlier) {
  return findings_.count_again(key_of(kind, array_name, by, earlier));
}

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
  finding f{};
  f.kind = kind;
  f.kernel = kernel_;
  f.warp_size = static_cast<int>(warp_size_);
  return f;
}

}  // namespace tenfold::observe
