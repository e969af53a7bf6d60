/// @file
/// The verbs of the program that watches kernels.
#pragma once

#include <string>

#include "host/cli/observing_options.hpp"

namespace tenfold::cli {

exit_code profile_stages(const profile_options& o);
exit_code check_stages(const check_options& o);
exit_code trace_stage(const trace_options& o);

/// The name under which a kernel is registered: that of the stage, or of the file without folder
/// and ending.
[[nodiscard]] std::string stage_name(const watched_kernel& k);

/// The program: `profile`, `check` and `trace`, as tenfold calls it.
int run_observer(int argc, char** argv);

}  // namespace tenfold::cli
