/// @file
/// What this program was built from.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenfold::measure {

/// As every file of results has them: `version`, `commit` and `compiler`. A commit whose kernels,
/// drivers or benchmarks have been changed since is followed by `with changes`. What is not known
/// is left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> build_facts();

}  // namespace tenfold::measure
