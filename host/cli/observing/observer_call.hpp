/// @file
/// Calling the program that can watch kernels.
#pragma once

#include "host/error.hpp"

namespace tenfold::cli {

/// What `profile`, `check` and `trace` are in a program that cannot watch kernels itself: it
/// becomes tenfold_observer, which is built where it is not, with the same arguments.
/// @param argv of this process
exit_code call_observer(char** argv);

}  // namespace tenfold::cli
