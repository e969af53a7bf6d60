/// @file
/// Running a reduction while an observer watches.
#pragma once

#include <span>
#include <string>

#include "host/backend.hpp"
#include "host/observe/summary.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::observe {

/// Has launches watched for as long as it lives.
class watch {
 public:
  explicit watch(simt::observer& by) { simt::set_observer(&by); }
  ~watch() { simt::set_observer(nullptr); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
};

/// What the driver calls the parameters of a kernel that reduces.
[[nodiscard]] std::span<const std::string> reduction_parameters();

/// What came of it.
struct watched_result {
  tenfold::shape used_shape;
  plan passes;
  value result;
};

/// Reduces random elements, once. The observer sees the memory, too, from its allocation on.
watched_result run_watched(const profile_request& r, simt::observer& by);

}  // namespace tenfold::observe
