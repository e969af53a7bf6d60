/// @file
/// What this program was built from.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenfold::measure {

/// As every JSON document has them in its `context`: `version`, `commit` and `compiler`. A commit
/// whose kernels/, common/, host/ or bench/ has been changed since is followed by `with changes`.
/// What is not known is left out.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& build_facts();

}  // namespace tenfold::measure
