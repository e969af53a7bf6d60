/// @file
/// Where a program's calls are.
#pragma once

namespace tenfold {

enum class launched_in {
  stream,  ///< one after the other, each by the host
  graph    ///< inside a graph that is launched as a whole
};

}  // namespace tenfold
