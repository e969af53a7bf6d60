/// @file
/// A reduction whose stage, element type and operator are chosen at run time, and the list of the
/// kernels that are loaded, to which each unit of kernels adds its own. Every such unit includes
/// this, and not host/backends/backend.hpp, which takes longer to compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/reduce/element.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold {

/// Which reduction, and for how much.
struct reduction_request {
  int stage = 0;
  element_type type = element_type::f32;
  std::string op = "sum";
  tenfold::shape shape;
  std::uint64_t max_n = 0;
};

/// Anything that reads an array on one device and leaves one value in a place of its own.
class runnable {
 public:
  virtual ~runnable() = default;
  /// Enqueues a run over `n` elements at `in`, device memory aligned to the element type.
  virtual void enqueue(const void* in, std::uint64_t n) = 0;
  /// Waits for what was enqueued last. @return its result
  [[nodiscard]] virtual value result() = 0;
  /// Operations in the longest chain from an element to the result; 0 if only the last of them
  /// rounds, so that the result is the nearest to the true one. The default is for libraries, which
  /// do not tell: n / 1024, for about a thousand chains side by side, and 1024 more, but no more
  /// than n.
  [[nodiscard]] virtual std::uint64_t depth(std::uint64_t n) const {
    return std::min(n, n / 1024 + 1024);
  }
};

/// A reduction by one stage, of one type, operator and shape.
class reduction : public runnable {
 public:
  [[nodiscard]] virtual plan plan_for(std::uint64_t n) const = 0;
  /// Enqueues a run into a stream of the caller's, by the vendor's handle; on the executor it means
  /// nothing.
  /// @param out room for one result, in memory that the device can write
  virtual void enqueue_on(void* stream, const void* in, std::uint64_t n, void* out) = 0;
  /// Where devices meet in the kernel, what `join` needs of each; elsewhere null.
  [[nodiscard]] virtual peer_place place() { return {}; }
  /// Lets them meet in `part`, which they all call from then on.
  /// @throws device_error where one does not reach another
  virtual void join(int /*rank*/, const std::vector<peer_place>& /*all*/) {}
  /// What a share of elements comes to where others have the rest, for `fold`: runs, and waits.
  [[nodiscard]] virtual std::vector<std::byte> part(const void* in, std::uint64_t n) = 0;
  /// @param parts of all shares, one after the other, folded in that order
  [[nodiscard]] virtual value fold(const std::vector<std::byte>& parts) const = 0;
  /// The shape in use: its grid filled in, and its items where the stage has a number of its own.
  [[nodiscard]] virtual shape used_shape() const = 0;
};

/// A call that has many results, or reads two arrays. It returns when the host has the results.
struct array_call {
  enum { rows, columns, segments, dot } what;
  std::string op;            ///< `sum`, `minimum` or `maximum`; `dot` has none
  const void* in;            ///< device memory, as all that is read
  const void* others;        ///< the other factors of `dot`; of segments, offsets of 64 bits
  std::uint64_t n;           ///< rows, one after the other, or segments
  std::uint64_t length = 0;  ///< elements of a row, or of an array
  void* out;                 ///< the host's memory
};

}  // namespace tenfold

namespace tenfold::inline TENFOLD_BACKEND {

/// Serves calls of one element type, in a unit of its own.
using array_call_function = void (*)(const device& on, const array_call& c);

struct registered_call {
  element_type type;
  array_call_function serve;
};

/// What the units that are loaded have registered.
[[nodiscard]] std::vector<registered_call>& registered_calls();

/// Makes reductions of one stage, for some element types and operators. Each such function is
/// compiled in a unit of its own, so that a change of one kernel recompiles that kernel alone.
/// @return made with `new`, and owned by the caller. It is no std::unique_ptr because nvcc takes as
///         long to read `<memory>` as to compile several kernels.
using make_reduction_function = reduction* (*)(const device& on, stream_handle queue,
                                               const reduction_request& r);

struct registered_stage {
  int number;
  element_type type;
  std::string_view op;  ///< empty: every operator that has no entry of its own
  make_reduction_function make;
};

/// What the units that are loaded have registered: as they are loaded, or before main() begins.
[[nodiscard]] std::vector<registered_stage>& registered_stages();

}  // namespace tenfold::inline TENFOLD_BACKEND
