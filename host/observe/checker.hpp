/// @file
/// Finds what is wrong with a kernel from what its threads did: races, reads of memory that nobody
/// wrote, accesses outside of arrays, elements lost or folded twice, barriers in divergent flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "host/observe/execution_order.hpp"
#include "host/observe/finding.hpp"
#include "host/observe/memory_map.hpp"
#include "host/observe/recorder.hpp"
#include "host/observe/shadow.hpp"
#include "host/observe/step.hpp"

namespace tenfold::observe {

/// Findings in the order in which they were first met. Those that differ in nothing but block,
/// threads and element are one.
class finding_list {
 public:
  /// What makes two findings the same.
  using key = std::tuple<finding_kind, code_address, code_address, std::string, std::string>;

  /// Counts a finding that was met before once more; adds any other, as `describe` has it.
  template <typename Describe>
  void add(const key& same, Describe&& describe);
  /// Keeps the first `kept` findings and drops all later races and reads of unwritten memory. Races
  /// between blocks are dropped only if `of_grid`: then blocks missed a barrier of the grid.
  void drop_consequences(std::size_t kept, bool of_grid);
  [[nodiscard]] const std::vector<finding>& all() const { return all_; }

 private:
  std::vector<finding> all_;
  std::vector<key> keys_;  // of each
};

/// Checks the launches that it observes.
class checker final : public simt::observer, public step_reader {
 public:
  /// @param most_steps basic blocks that a thread may enter
  /// @param input_elements of a reduction: every launch whose array `in` the host filled must read
  ///   each of them once; nothing: no kernel has to
  explicit checker(std::uint64_t most_steps,
                   std::optional<std::size_t> input_elements = std::nullopt)
      : input_elements_(input_elements), recorders_(*this, most_steps) {}

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  void allocated(const void* memory, std::size_t bytes) override;
  void released(const void* memory) override;
  void written_by_host(const void* memory, std::size_t bytes) override;
  void begin_launch(const simt::launch_facts& launch) override;
  simt::block_observer& join_launch() override { return recorders_.join(); }
  void end_launch() override;

  void begin_block(const simt::launch_facts& launch, simt::index3 block,
                   const simt::block_memory& memory) override;
  void read(const step& s) override;
  void pass_block_barrier() override;
  void go_on(const simt::launch_facts& launch, simt::index3 block, const simt::block_memory& memory,
             unsigned grid_barriers) override;
  void end_block(const simt::block_failure& failure) override;

  [[nodiscard]] const std::vector<finding>& findings() const { return findings_.all(); }

 private:
  /// One lane's part of a step.
  struct lane_access {
    access by;
    std::uintptr_t address;
    std::size_t bytes;
    bool is_packed;  ///< its type need not be aligned to its size
  };
  /// A read of shared memory that nobody had written yet.
  struct early_read {
    lane_access by;
    std::uintptr_t address;  ///< of the first byte
  };
  /// How often each element of a launch's input was read.
  struct coverage {
    std::uintptr_t first;
    std::size_t element_bytes;
    std::vector<std::uint8_t> reads;
  };

  void check(const lane_access& a);
  [[nodiscard]] shadow_array* find_shadow(std::uintptr_t address, std::size_t bytes);
  void check_alignment(const lane_access& a, const shadow_array& shadow);
  void check_written(const lane_access& a, const shadow_array& shadow);
  void report_unwritten(const lane_access& a, const shadow_array& shadow, std::uintptr_t address);
  void forgive_early_reads(const lane_access& write);
  void end_interval();
  void turn_to(const simt::launch_facts& launch, simt::index3 block,
               const simt::block_memory& memory);
  void check_order(const lane_access& a, shadow_array& shadow);
  [[nodiscard]] std::optional<access> find_race(const access& by, const shadow_cell& cell) const;
  [[nodiscard]] std::optional<access> find_unordered(const access& by,
                                                     const shadow_cell& cell) const;
  void expect_coverage();
  void count_reads(const lane_access& a, shadow_array& shadow);
  void report_repeated(const lane_access& a, shadow_array& shadow, std::uintptr_t address);
  void check_coverage();

  void report_race(const lane_access& later, const access& earlier, const shadow_array& shadow,
                   std::uintptr_t address);
  [[nodiscard]] finding_kind kind_of_race(const access& later, const access& earlier) const;
  [[nodiscard]] std::string remedy_of_race(finding_kind kind, const access& later,
                                           const access& earlier) const;
  void report_out_of_bounds(const lane_access& a);
  /// @param describe sets address, what and remedy; only called for a finding that is new
  template <typename Describe>
  void report(finding_kind kind, const std::string& array_name, const access& by,
              const std::optional<access>& earlier, Describe&& describe);
  [[nodiscard]] witness witness_of(const access& a) const;
  [[nodiscard]] finding new_finding(finding_kind kind) const;

  std::optional<std::size_t> input_elements_;
  recorders_in_turn recorders_;
  memory_map memory_;
  execution_order order_;
  std::map<std::uintptr_t, shadow_array> global_shadows_;
  std::map<std::uintptr_t, shadow_array> shared_shadows_;  // of the OS threads that run blocks
  shadow_array* last_shadow_ = nullptr;
  finding_list findings_;
  std::optional<coverage> coverage_;
  std::vector<early_read> early_reads_;  // since the block's last barrier
  address_range kernel_code_;

  std::string kernel_;
  unsigned warp_size_ = 0;
  std::size_t found_before_ = 0;          // the last barrier of the block
  std::size_t found_before_in_grid_ = 0;  // the last barrier of the grid
  unsigned grid_barriers_ = 0;            // of this launch
  bool has_failed_ = false;               // a block of this launch
  bool had_bad_address_ = false;          // an access of this block
  std::vector<code_address> last_code_;   // of each thread of the block
  std::vector<simt::index3> blocks_;      // of this launch, in the order in which they ran
};

}  // namespace tenfold::observe
