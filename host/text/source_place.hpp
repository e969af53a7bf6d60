/// @file
/// A place in source code.
#pragma once

#include <string>

namespace tenfold {

/// What is inlined has several, the innermost first.
struct source_place {
  std::string file;  ///< as the compiler was given it
  int line = 0;      ///< from 1; 0: unknown
  friend bool operator==(const source_place&, const source_place&) = default;
};

}  // namespace tenfold
