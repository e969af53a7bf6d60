#include "host/own/trials.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "host/backends/adversarial_operator.hpp"
#include "host/data/input.hpp"
#include "host/data/reference.hpp"
#include "host/error.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::measure {
namespace {

constexpr std::uint64_t seed = 20240229;
// How many failures are told, of one kind of trial and of all.
constexpr std::size_t most_of_a_kind = 2, most_failures = 6;
constexpr std::chrono::seconds seconds_of_a_trial{20};  // others take a hundredth of one

/// Elements of which each n takes the first n, so that what follows them is no harmless zero.
struct elements {
  element_type type;
  std::string op;
  std::string what{};  ///< that is special about them, for the report
  std::vector<std::byte> bytes{};
};

template <typename T>
elements make_elements(std::string op, std::string what, std::uint64_t n,
                       const std::function<T(std::uint64_t)>& element) {
  std::vector<std::byte> bytes(n * sizeof(T));
  for (std::uint64_t i = 0; i < n; ++i) {
    const T x = element(i);
    std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof x);
  }
  return {element_type_of<T>, std::move(op), std::move(what), std::move(bytes)};
}

elements random_elements(const std::string& op, std::uint64_t n,
                         element_type type = element_type::u32) {
  elements made{type, op, {}, std::vector<std::byte>(size_of(type) * n)};
  generate_input(made.bytes.data(), made.type, op, n, seed);
  return made;
}

/// Odd factors, lest a product of many be zero.
elements random_maps(std::uint64_t n) {
  elements made = random_elements(std::string(composition_name), n);
  for (std::uint64_t i = 0; i < n; ++i) made.bytes[4 * i + 2] |= std::byte{1};
  return made;
}

/// Numbers that f32 holds, in one of the types in floating point.
elements make_floats(element_type type, std::string op, std::string what, std::uint64_t n,
                     const std::function<float(std::uint64_t)>& element) {
  if (type == element_type::f64)
    return make_elements<double>(std::move(op), std::move(what), n, element);
  return make_elements<float>(std::move(op), std::move(what), n, element);
}

/// Away from the zero that some pad with: for a maximum negative, for a minimum positive.
elements floats_in_order(const std::string& op, element_type type, bool rise, std::uint64_t n) {
  const bool positive = op == "minimum";
  return make_floats(
      type, op,
      fmt::format("{} and {}", positive ? "positive" : "negative", rise ? "rising" : "falling"), n,
      [=](std::uint64_t i) {
        const auto away = static_cast<float>(rise == positive ? i + 1 : n - i);
        return positive ? away : -away;
      });
}

/// Around the first multiples of `unit`.
void add_multiples(std::set<std::uint64_t>& sizes, std::uint64_t unit) {
  for (std::uint64_t k = 1; k <= 5; ++k) sizes.insert({k * unit - 1, k * unit, k * unit + 1});
}

reference reference_for(const elements& in, std::uint64_t n) {
  if (in.op != composition_name) return make_reference(in.bytes.data(), in.type, in.op, n);
  const composition op;
  std::uint32_t result = op.identity();
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint32_t map = 0;
    std::memcpy(&map, in.bytes.data() + i * sizeof map, sizeof map);
    result = op(result, map);
  }
  return {.expected = result};
}

class trial_runner {
 public:
  trial_runner(session& on, const stage_info& stage) : on_(on), stage_(stage) {
    // A kernel from elsewhere may be for one operator alone, and for one type.
    if (const std::string_view only = description_of(stage).only_operator; !only.empty())
      op_ = only;
    if (!takes(integer_, op_)) integer_ = element_type::i32;
    if (!takes(float_, op_)) float_ = element_type::f64;
    if (takes(integer_, op_))
      measured_ = integer_;
    else if (takes(float_, op_))
      measured_ = float_;
  }

  trial_report run() {
    const int only_block = description_of(stage_).only_block;
    if (only_block != 0) try_sizes({.block = only_block});
    for (const int block : unlisted_block_sizes)
      if (only_block == 0 && (is_unlisted(stage_) || is_among(fast_block_sizes, block)))
        try_sizes({.block = block});
    try_addresses();
    try_special_values();
    if (description_of(stage_).takes_grid && description_of(stage_).own_grid == 0)
      for (const std::uint64_t grid : {1, 2, 3})
        try_all(random_elements(op_, 5 * tile({}) + 1, integer_), {.grid = grid},
                {1, tile({}), 5 * tile({}) + 1});
    return report_;
  }

 private:
  void try_sizes(const shape& s) {
    std::set<std::uint64_t> sizes{1, 2};
    // No minimum or maximum of no elements: others' kernels may return another value than
    // infinity.
    if (op_ != "minimum" && op_ != "maximum") sizes.insert(0);
    for (std::uint64_t power = 4; power <= 4096; power *= 2)
      sizes.insert({power - 1, power, power + 1});
    add_multiples(sizes, static_cast<std::uint64_t>(s.block));
    add_multiples(sizes, tile(s));
    const std::set<std::uint64_t> smaller = sizes;
    sizes.insert({65'537, 70'001});
    const std::uint64_t most = *sizes.rbegin();
    // What stands out of them for an operator follows from how many they are.
    for (const std::uint64_t n : sizes) try_all(random_elements(op_, n, integer_), s, {n});
    try_all(floats_to_fold(most), s, sizes);
    const std::string outermost = op_ == "minimum" ? "minimum" : "maximum";
    try_all(floats_in_order(outermost, float_, false, most), s, smaller);
    // The last element of all is the largest: it is there at one size alone.
    for (const std::uint64_t n : smaller)
      try_all(floats_in_order(outermost, float_, true, n), s, {n});
    if (is_unlisted(stage_)) try_all(random_maps(most), s, sizes);
  }

  /// For a sum all of about the same size, so that rounding explains the loss of none.
  [[nodiscard]] elements floats_to_fold(std::uint64_t n) const {
    if (op_ != "sum") return random_elements(op_, n, float_);
    return make_floats(float_, "sum", {}, n,
                       [](std::uint64_t i) { return static_cast<float>(1000 + i * 7919 % 2003); });
  }

  void try_addresses() {
    const std::uint64_t n = 2 * tile({}) + 3;
    for (const std::size_t offset : {4, 8, 12}) {
      if (offset % size_of(integer_) == 0)
        try_all(random_elements(op_, n, integer_), {}, {1, 2, tile({}), n}, offset);
      if (offset % size_of(float_) == 0) try_all(floats_to_fold(n), {}, {n}, offset);
    }
  }

  void try_special_values() {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::uint64_t n = 2 * tile({}) + 3;
    const bool is_extremum = op_ == "minimum" || op_ == "maximum";
    std::vector<std::string> ops{"sum", "maximum"};
    if (op_ != "sum") ops = is_extremum ? std::vector{op_} : std::vector<std::string>{};
    for (const std::string& op : ops)
      for (const float special : {std::nanf(""), infinity, -infinity}) {
        // A kernel for extrema alone may let a NaN lose, as fmaxf does.
        if (is_extremum && std::isnan(special)) continue;
        for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{31}, tile({}), n - 1})
          try_all(make_floats(
                      float_, op, fmt::format("with {} at {}", special, at), n,
                      [&](std::uint64_t i) { return i == at ? special : static_cast<float>(i); }),
                  {}, {n});
      }
  }

  /// A stage may have kernels for fewer operators than there are.
  [[nodiscard]] bool takes(element_type type, const std::string& op) {
    const auto [found, is_new] = taken_.try_emplace({type, op}, true);
    if (!is_new) return found->second;
    try {
      std::ignore = on_.make_reduction(
          {.stage = stage_.number, .type = type, .op = op, .shape = {}, .max_n = 1});
    } catch (const input_error&) {
      found->second = false;
    }
    return found->second;
  }

  /// How many elements a block folds at a time, or a part of it.
  [[nodiscard]] std::uint64_t tile(const shape& s) const {
    const shape used =
        on_.make_reduction({.stage = stage_.number, .type = measured_, .op = op_, .shape = s})
            ->used_shape();
    return static_cast<std::uint64_t>(used.block) * static_cast<std::uint64_t>(used.items);
  }

  /// @param offset in bytes, of the elements' address from one that is aligned
  void try_all(const elements& in, const shape& s, const std::set<std::uint64_t>& sizes,
               std::size_t offset = 0) {
    if (!takes(in.type, in.op)) return;
    const auto reduction = on_.make_reduction({.stage = stage_.number,
                                               .type = in.type,
                                               .op = in.op,
                                               .shape = s,
                                               .max_n = *sizes.rbegin()});
    const auto memory = on_.allocate(in.bytes.size() + offset);
    on_.upload(memory->data() + offset, in.bytes.data(), in.bytes.size());
    if (std::string kind = describe(in, s, 0, offset); kind != kind_) {
      told_of_this_kind_ = 0;
      kind_ = std::move(kind);
    }
    for (const std::uint64_t n : sizes)
      try_one(in, *reduction, memory->data() + offset, n,
              [&] { return describe(in, s, n, offset); });
  }

  void try_one(const elements& in, reduction& r, const void* at, std::uint64_t n,
               const std::function<std::string()>& describe) {
    value result;
    watch_.begin(describe(), seconds_of_a_trial);
    try {
      const simt::scoped_step_limit limit(simt::enough_steps(n));
      r.enqueue(at, n);
      result = r.result();
    } catch (const device_error& e) {
      throw device_error(fmt::format("{}: {}", describe(), e.what()));
    }
    watch_.end();
    ++report_.trials;
    const reference expected = reference_for(in, n);
    if (judge(expected, result, r.depth(n)) != verdict::wrong) return;
    ++report_.wrong;
    if (report_.failures.size() == most_failures || told_of_this_kind_++ >= most_of_a_kind) return;
    report_.failures.push_back(fmt::format("{}: {} instead of {}", describe(), to_string(result),
                                           to_string(expected.expected)));
  }

  [[nodiscard]] static std::string describe(const elements& in, const shape& s, std::uint64_t n,
                                            std::size_t offset) {
    std::string text = fmt::format("n {}, {} of {}", n, in.op, name_of(in.type));
    if (!in.what.empty()) text += fmt::format(" {}", in.what);
    text += fmt::format(", block {}", s.block);
    if (s.grid != 0) text += fmt::format(", grid {}", s.grid);
    if (offset != 0) text += fmt::format(", {} bytes past an aligned address", offset);
    return text;
  }

  session& on_;
  const stage_info& stage_;
  element_type integer_ = element_type::u32, float_ = element_type::f32,
               measured_ = element_type::u32;
  std::string op_ = "sum";
  trial_report report_;
  std::string kind_;
  std::size_t told_of_this_kind_ = 0;
  std::map<std::pair<element_type, std::string>, bool> taken_;
  time_limit watch_;
};

}  // namespace

void time_limit::begin(std::string what, std::chrono::seconds most) {
  const std::scoped_lock lock(mutex_);
  what_ = std::move(what);
  most_ = most;
  deadline_ = clock::now() + most;
}

void time_limit::end() {
  const std::scoped_lock lock(mutex_);
  deadline_ = clock::time_point::max();
}

void time_limit::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (
      !wake_.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); }))
    if (clock::now() > deadline_) {
      fmt::print(stderr,
                 "tenfold: {}: the kernel has not ended after {} s: which of its loops does not "
                 "end for these elements?\n",
                 what_, most_.count());
      std::fflush(nullptr);
      _exit(static_cast<int>(exit_code::device_failed));
    }
}

trial_report run_trials(session& on, const stage_info& stage) {
  return trial_runner(on, stage).run();
}

}  // namespace tenfold::measure
