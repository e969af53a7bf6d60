/// @file
/// What `profile` says of kernels.
#pragma once

#include <span>
#include <string>

#include "host/observe/summary.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold::cli {

/// A stage and what it took.
struct profiled_stage {
  const stage_info* stage;
  observe::kernel_profile profile;
};

/// A stage in a column, beside the stage before it where there is one, for one warp size.
void print_profile(const profiled_stage* before, const profiled_stage& stage);
/// Every stage a line, for one warp size.
void print_profiles(std::span<const profiled_stage> stages);
/// The launches, one a line.
void print_passes(const observe::kernel_profile& p);
/// The kernel's text with counters beside its lines.
void print_source(const profiled_stage& stage);

[[nodiscard]] std::string profile_document(std::span<const profiled_stage> stages);

}  // namespace tenfold::cli
