/// @file
/// The reductions of one stage, for some element types and sums, other operators or all of them.
/// Included by generated units, of which every stage has a few for each backend.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "host/backends/adversarial_operator.hpp"
#include "host/backends/reduction.hpp"
#include "host/ranks/peers.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "host/reducer.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

template <typename In, typename T, typename Op>
class typed_reduction : public reduction {
 public:
  template <typename Stage>
  typed_reduction(Stage stage, const device& on, stream_handle queue, const reduction_request& r)
      : device_(on),
        queue_(queue),
        reducer_(stage, on, r.max_n, r.shape),
        result_(on, sizeof(T)),
        rounds_once_(Stage::adds_floats_alone) {}

  void enqueue(const void* in, std::uint64_t n) override {
    reducer_.enqueue(static_cast<const In*>(in), n, static_cast<T*>(result_.data()), queue_);
  }

  void enqueue_on(void* stream, const void* in, std::uint64_t n, void* out) override {
    reducer_.enqueue(static_cast<const In*>(in), n, static_cast<T*>(out),
                     stream_of(device_, stream));
  }

  value result() override { return download<T>(result_); }

  std::vector<std::byte> part(const void* in, std::uint64_t n) override {
    enqueue(in, n);
    return bytes_of(download<T>(result_));
  }
  value fold(const std::vector<std::byte>& parts) const override {
    return fold_parts<T>(parts, Op{});
  }

  std::uint64_t depth(std::uint64_t n) const override {
    return rounds_once_ ? 0 : plan_for(n).depth();
  }
  plan plan_for(std::uint64_t n) const override { return reducer_.plan_for(n); }
  shape used_shape() const override { return reducer_.used_shape(); }

 protected:
  template <typename R>
  R download(const device_memory& from) const {
    device_.make_current();
    R copy{};
    copy_to_host(&copy, from.data(), sizeof(R), queue_);
    synchronize(queue_);
    return copy;
  }
  template <typename R>
  static std::vector<std::byte> bytes_of(const R& part) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&part);
    return {bytes, bytes + sizeof(R)};
  }
  template <typename R, typename Fold>
  static R fold_parts(const std::vector<std::byte>& parts, Fold op) {
    R folded{}, each{};
    for (std::size_t at = 0; at + sizeof(R) <= parts.size(); at += sizeof(R)) {
      std::memcpy(&each, parts.data() + at, sizeof(R));
      folded = at == 0 ? each : op(folded, each);
    }
    return folded;
  }

  device device_;
  stream_handle queue_;

 private:
  reducer<In, T, Op> reducer_;
  device_memory result_;
  bool rounds_once_;
};

/// A reduction by a stage that rounds once, at the end. A part is a sum before that rounding, so
/// neither the number of parts nor where one ends changes a bit of the result.
template <typename In, typename T, typename Stage>
class rounding_reduction final : public typed_reduction<In, T, sum<T>> {
  using unrounded = typename Stage::template unrounded<In>;

 public:
  rounding_reduction(Stage stage, const device& on, stream_handle queue, const reduction_request& r)
      : typed_reduction<In, T, sum<T>>(stage, on, queue, r), request_(r) {}

  /// With the default items, for which alone there are kernels.
  std::vector<std::byte> part(const void* in, std::uint64_t n) override {
    if (!kept_)
      kept_.emplace(Stage{}, this->device_, request_.max_n,
                    shape{.block = request_.shape.block, .grid = request_.shape.grid});
    this->device_.make_current();
    return this->bytes_of((*kept_)(static_cast<const In*>(in), n, this->queue_));
  }
  value fold(const std::vector<std::byte>& parts) const override {
    return this->template fold_parts<unrounded>(parts, sum<unrounded>{}).template round<T>();
  }
  shape used_shape() const override {
    return kept_ ? kept_->used_shape() : typed_reduction<In, T, sum<T>>::used_shape();
  }
  plan plan_for(std::uint64_t n) const override {
    return kept_ ? kept_->plan_for(n) : typed_reduction<In, T, sum<T>>::plan_for(n);
  }

 private:
  reduction_request request_;
  std::optional<reducer<In, unrounded, sum<unrounded>>> kept_;
};

/// Of a stage whose devices meet in the kernel: each has the result of all.
template <typename In, typename T, typename Op, typename Stage>
class meeting_reduction final : public typed_reduction<In, T, Op> {
 public:
  meeting_reduction(Stage stage, const device& on, stream_handle queue, const reduction_request& r)
      : typed_reduction<In, T, Op>(stage, on, queue, r), request_(r) {}

  peer_place place() override {
    joined_.emplace(Stage{}, this->device_, request_.max_n, request_.shape);
    return {joined_->meeting_place(), this->device_.ordinal()};
  }
  void join(int rank, const std::vector<peer_place>& all) override {
    join_peers(this->device_, rank, all);
  }
  std::vector<std::byte> part(const void* in, std::uint64_t n) override {
    this->device_.make_current();
    return this->bytes_of((*joined_)(static_cast<const In*>(in), n, this->queue_));
  }
  value fold(const std::vector<std::byte>& parts) const override {
    return this->template fold_parts<T>(parts, [](const T& first, const T&) { return first; });
  }

 private:
  reduction_request request_;
  std::optional<reducer<In, T, Op>> joined_;
};

/// Whether a stage rounds its result at the end, and can leave it unrounded.
template <typename Stage, typename In>
concept rounds_at_the_end = requires { typename Stage::template unrounded<In>; };

template <typename Stage, typename In, typename T, typename Op>
using reduction_by = std::conditional_t<
    Stage::meets_peers, meeting_reduction<In, T, Op, Stage>,
    std::conditional_t<rounds_at_the_end<Stage, In>, rounding_reduction<In, T, Stage>,
                       typed_reduction<In, T, Op>>>;

/// Whether kernels are compiled for an operator. Kernels that are observed are compiled for sums
/// alone; an unlisted stage that serves only one other operator does not ask here.
template <typename T, typename Op>
inline constexpr bool is_built_for =
#if defined(TENFOLD_OBSERVED)
    std::is_same_v<Op, sum<T>>;
#else
    true;
#endif

/// Which operators a unit has kernels for.
enum class operators { all, sum, all_but_sum };

template <operators Which, typename T, typename Op>
inline constexpr bool is_in_unit =
    Which == operators::all || (Which == operators::sum) == std::is_same_v<Op, sum<T>>;

/// See `make_reduction_function`.
/// @throws input_error when the operator does not take the type, or no operator has that name.
template <typename Stage, operators Which, element_type... Types>
reduction* make_reduction(const device& on, stream_handle queue, const reduction_request& r) {
  reduction* made = nullptr;
  visit_type(r.type, [&]<typename In>() {
    if constexpr (((element_type_of<In> == Types) || ...))
      std::ignore = visit_operator<In>(r.op, [&]<typename Op>() {
        using T = accumulator_of<In>;
        if constexpr (is_built_for<T, Op> && is_in_unit<Which, T, Op>)
          made = new reduction_by<Stage, In, T, Op>(Stage{}, on, queue, r);
      });
  });
  if (made == nullptr) refuse_operator(r.op, r.type);
  return made;
}

/// @return true, for an initializer
template <typename Stage, operators Which, element_type... Types>
bool register_stage() {
  for (const element_type type : {Types...})
    registered_stages().push_back({info_of<Stage>().number, type,
                                   Which == operators::sum ? "sum" : "",
                                   &make_reduction<Stage, Which, Types...>});
  return true;
}

// ---- a stage that the catalogue does not list ---------------------------------------------------

/// Whether a kernel has the parameters that it is launched with; one that is left out is null.
template <typename In, typename T, typename Op, typename Kernel>
inline constexpr bool takes_reduction = std::is_null_pointer_v<Kernel>;
template <typename In, typename T, typename Op, typename... More>
inline constexpr bool
    takes_reduction<In, T, Op, void (*)(const In*, T*, std::size_t, Op, More...)> =
        sizeof...(More) <= 2;
template <typename In, typename T, typename Op, typename... More>
inline constexpr bool takes_reduction<In, T, Op, void (*)(In*, T*, std::size_t, Op, More...)> =
    sizeof...(More) <= 2;

/// Calls `make` with the one operator that a stage serves, if that takes the type.
template <typename T, typename Stage, typename F>
reduction* make_only_reduction(F&& make) {
#define TENFOLD_MAKE_ONLY(op)                \
  if constexpr (Stage::only_operator == #op) \
    if constexpr (requires { requires is_offered<T, op<T>>; }) return make(op<T>{});
  TENFOLD_OPERATORS(TENFOLD_MAKE_ONLY)
#undef TENFOLD_MAKE_ONLY
  return nullptr;
}

/// See `make_reduction_function`. The default block stands for the only one that a stage has.
/// @throws input_error for any operator but those few.
template <typename Stage, typename T>
reduction* make_unlisted_reduction(const device& on, stream_handle queue,
                                   const reduction_request& r) {
  reduction_request request = r;
  if (Stage::only_block != 0 && request.shape.block == default_block)
    request.shape.block = Stage::only_block;
  const auto make = [&]<typename Op>(Op) {
    constexpr int block = Stage::only_block != 0 ? Stage::only_block : default_block;
    using kernel =
        decltype(Stage::template kernel<block, warp_sizes.back(), default_items, T, T, Op>());
    static_assert(
        takes_reduction<T, T, Op, kernel>,
        "a kernel's parameters are: const In* in, T* out, std::size_t n, Op op; and, where "
        "it folds its partials, T* partials, unsigned* ticket");
    return new reduction_by<Stage, T, T, Op>(Stage{}, on, queue, request);
  };
  constexpr std::string_view only =
      Stage::adds_to_result && Stage::only_operator.empty() ? "sum" : Stage::only_operator;
  if constexpr (only.empty() || only == "sum" || only == "none") {
    if (r.op == (only == "none" ? "none" : "sum")) return make(sum<T>{});
  } else {
    reduction* made = nullptr;
    if (r.op == only) made = make_only_reduction<T, Stage>(make);
    if (made != nullptr) return made;
  }
  if constexpr (is_built_for<T, maximum<T>> && only.empty())
    if (r.op == "maximum") return make(maximum<T>{});
  if constexpr (is_built_for<T, composition> && Stage::keeps_order &&
                std::is_same_v<T, std::uint32_t>)
    if (r.op == composition_name) return make(composition{});
  throw input_error(name_stage(info_of<Stage>()) + " is built for " +
                    (only.empty() ? "the operators sum and maximum"
                                  : "the operator " + std::string(only) + " alone") +
                    ", not for " + r.op);
}

/// @return true, for an initializer
template <typename Stage>
bool register_unlisted_stage(std::string_view type, std::string_view file) {
  const int number = add_unlisted_stage({.stage = describe<Stage>(), .type = type, .file = file});
  const auto add = [&]<typename T>(T) {
    if constexpr (Stage::template serves<T>)
      registered_stages().push_back(
          {number, element_type_of<T>, "", &make_unlisted_reduction<Stage, T>});
  };
  add(std::uint32_t{});
#if defined(TENFOLD_OBSERVED)  // where no stage has them, unless they stand for the others
  if constexpr (!Stage::template serves<std::uint32_t> && !Stage::template serves<float>)
#endif
    add(std::int32_t{});
  add(float{});
  add(double{});
  return true;
}

}  // namespace tenfold::inline TENFOLD_BACKEND

/// How a unit brings such a stage: it includes this and the kernel's file, and names what is in
/// there, outside of any namespace:
///
///     TENFOLD_REGISTER_STAGE(my_kernel, my_kernel::stage, "/home/me/my_kernel.hpp")
///
/// It is compiled while somebody waits, so that there are few kernels: sums and maxima of u32, i32
/// and f32, in `unlisted_block_sizes`, and the one operator of
/// host/backends/adversarial_operator.hpp; to be observed, sums of u32 and f32. Fewer or others
/// where the stage says so: see `serves`, `only_operator` and `only_block` of common/stage.hpp.
#define TENFOLD_REGISTER_STAGE(name, type, file)                                                   \
  namespace tenfold::inline TENFOLD_BACKEND {                                                      \
  template <>                                                                                      \
  inline constexpr stage_info unlisted_info<type>{first_unlisted_number, #name, type::keeps_order, \
                                                  "no stage of the ladder"};                       \
  [[maybe_unused]] static const bool name##_is_registered =                                        \
      register_unlisted_stage<type>(#type, file);                                                  \
  }
