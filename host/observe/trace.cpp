#include "host/observe/trace.hpp"

#include <algorithm>

#include "host/observe/observed_run.hpp"
#include "host/observe/places.hpp"
#include "host/observe/profile.hpp"
#include "host/observe/recorder.hpp"
#include "host/simt/kernel_symbols.hpp"

namespace tenfold::observe {
namespace {

class tracer final : public simt::observer, private step_reader {
 public:
  tracer(const run_request& r, unsigned traced_block)
      : element_bytes_(size_of(r.type)),
        traced_block_(traced_block),
        recorder_(*this, enough_steps(r.n), true) {}

  /// @param file that holds the kernel
  [[nodiscard]] std::vector<traced_launch> finish(std::string_view file) {
    place_finder finder;
    finder.look_up(code_);
    for (traced_launch& launch : launches_)
      for (traced_step& each : launch.steps) {
        const source_place at = finder.line_in(each.where, file);
        each.line = at.file.ends_with(file) ? at.line : 0;
      }
    return std::move(launches_);
  }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  void begin_launch(const simt::launch_facts& launch) override {
    global_.begin_launch(launch, reduction_parameters());
    launches_.push_back({.kernel = launch.kernel->name,
                         .blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z,
                         .block = std::min(traced_block_, launch.grid.x - 1)});
    for (const auto& [begin, each] : global_.arrays())
      if (each.element_bytes != 0) add_array(each, each.element_bytes);
  }
  simt::block_observer& join_launch() override { return recorder_; }
  void allocated(const void* p, std::size_t bytes) override { global_.allocated(p, bytes); }
  void released(const void* p) override { global_.released(p); }

 private:
  void begin_block(const simt::launch_facts& launch, simt::index3 block,
                   const simt::block_memory& memory) override {
    is_traced_ = block.x == launches_.back().block && block.y == 0 && block.z == 0;
    if (!is_traced_) return;
    warp_size_ = launch.warp_size;
    epoch_ = 0;
    map_.begin_block(launch, memory, global_);
    for (const array& each : map_.shared())
      if (each.bytes != 0) add_array(each, element_bytes_of(each));
  }

  void read(const step& s) override {
    if (!is_traced_ || s.what == action::basic_block || is_fence(s.what)) return;
    traced_step traced{
        .epoch = epoch_, .warp = s.warp, .what = s.what, .where = s.where, .bytes = s.bytes};
    if (is_access(s.what) && !describe_access(s, traced)) return;
    for_each_lane(s.lanes, [&](unsigned lane) { traced.lanes.push_back(describe_lane(s, lane)); });
    code_.push_back(s.where);
    launches_.back().steps.push_back(std::move(traced));
  }

  void pass_block_barrier() override { ++epoch_; }

  /// Shared memory holds what is folded, or a flag that is smaller.
  [[nodiscard]] std::size_t element_bytes_of(const array& a) const {
    return a.in == space::shared ? std::min(element_bytes_, a.bytes) : a.element_bytes;
  }

  void add_array(const array& a, std::size_t element_bytes) {
    launches_.back().arrays.push_back({a.name, a.in, a.bytes / element_bytes, element_bytes});
  }

  /// @return whether it touches an array that a drawing shows
  bool describe_access(const step& s, traced_step& traced) {
    const array* of = map_.find((*s.addresses)[first_lane(s.lanes)]);
    if (of == nullptr || element_bytes_of(*of) == 0) return false;
    traced.array = of->name;
    traced.in = of->in;
    if (of->in == space::shared)
      // A small model of a block on a GPU, where 32 banks serve 32 lanes: with fewer lanes than
      // banks no two of them would ever meet in one.
      traced.wavefronts = count_turns(s, warp_size_).wavefronts;
    else
      traced.sectors = count_sectors(s);
    return true;
  }

  traced_lane describe_lane(const step& s, unsigned lane) {
    traced_lane described{.lane = lane, .thread = s.warp * warp_size_ + lane};
    if (s.what == action::block_barrier || s.what == action::warp_barrier) return described;
    described.value = (*s.values)[lane];
    if (s.what == action::shuffle) described.source = (*s.sources)[lane];
    if (!is_access(s.what)) return described;
    const std::uintptr_t address = (*s.addresses)[lane];
    if (const array* of = map_.find(address); of != nullptr && element_bytes_of(*of) != 0)
      described.index = static_cast<std::int64_t>((address - of->begin) / element_bytes_of(*of));
    return described;
  }

  std::size_t element_bytes_;
  unsigned traced_block_;
  global_memory global_;
  block_map map_;
  block_recorder recorder_;
  std::vector<traced_launch> launches_;
  std::vector<code_address> code_;  // of all steps
  bool is_traced_ = false;
  unsigned warp_size_ = 0, epoch_ = 0;
};

}  // namespace

std::vector<traced_launch> trace_kernel(const run_request& r, unsigned traced_block) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 20;
  check_size(r.n, most_elements);
  tracer tracing(r, traced_block);
  run_observed(r, &tracing);
  return tracing.finish(r.file);
}

}  // namespace tenfold::observe
