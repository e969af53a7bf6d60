/// @file
/// Calling the program that can watch kernels.
#pragma once

#include "host/cli/observing_options.hpp"

namespace tenfold::cli {

/// The verbs of a program that cannot watch kernels itself: it becomes tenfold_observer, which lies
/// beside it, with the same arguments, or is built with the kernel in the file that they name.
/// @param argv of this process, outliving what is returned
[[nodiscard]] observing_verbs verbs_of_observer(char** argv);

}  // namespace tenfold::cli
