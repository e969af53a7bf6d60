/// @file
/// Calling the program that can watch kernels.
#pragma once

#include "host/cli/observing/observing_options.hpp"

namespace tenfold::cli {

/// The verbs of a program that cannot watch kernels itself: it becomes tenfold_observer, which is
/// built where it is not, with the same arguments.
/// @param argv of this process, outliving what is returned
[[nodiscard]] observing_verbs verbs_of_observer(char** argv);

}  // namespace tenfold::cli
