#include "host/c/tenfold.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "host/backends/names.hpp"
#include "host/error.hpp"
#include "host/reduce/best.hpp"

/// Whose members are destroyed from the last to the first.
struct tenfold_reducer {
  std::unique_ptr<tenfold::session> on;
  std::unique_ptr<tenfold::reduction> by;
};

namespace {

using namespace tenfold;

thread_local char last_error[2048] = "";  // so that to keep a message takes no memory

/// No exception leaves what is called from C.
template <typename F>
tenfold_status status_of(F&& work) noexcept {
  try {
    work();
    return TENFOLD_OK;
  } catch (const error& failure) {
    std::snprintf(last_error, sizeof last_error, "%s", failure.what());
    return failure.code() == exit_code::bad_input ? TENFOLD_BAD_INPUT : TENFOLD_DEVICE_FAILED;
  } catch (const std::bad_alloc&) {
    std::snprintf(last_error, sizeof last_error, "the host has no memory left: use a smaller n");
  } catch (const std::exception& failure) {
    std::snprintf(last_error, sizeof last_error, "%s", failure.what());
  } catch (...) {
    std::snprintf(last_error, sizeof last_error, "an error without a message");
  }
  return TENFOLD_DEVICE_FAILED;
}

template <typename T>
T* not_null(T* pointer, const char* name) {
  if (pointer == nullptr) throw input_error(std::string(name) + " is NULL: pass a pointer");
  return pointer;
}

/// Whether the library comes with a stage's kernels for such elements: the build says so.
bool comes_with(int stage, bool is_narrow) {
  constexpr std::array wide{TENFOLD_C_WIDE_STAGES};
  constexpr std::array narrow{TENFOLD_C_NARROW_STAGES};
  return is_narrow ? is_among(narrow, stage) : is_among(wide, stage);
}

tenfold_reducer make(const char* device, const char* type_name, const char* op_name,
                     std::uint64_t max_n) {
  const device_choice where = choose_device(device == nullptr ? "" : device);
  const element_type type = parse_element_type(not_null(type_name, "the type"));
  const std::string op = choose_operator(not_null(op_name, "the operator"), type);
  if (max_n > std::numeric_limits<std::size_t>::max() / size_of(type))
    throw input_error("no memory has room for " + std::to_string(max_n) +
                      " elements: use a smaller n");
  tenfold_reducer made{where.backend->open(where.number), nullptr};
  std::vector<kernel_family> families = families_of(type, op);
  std::erase_if(families, [&](const kernel_family& each) {
    return !comes_with(each.stage.number, is_narrow_type(type));
  });
  const std::vector<stage_choice> choices =
      best_choices({made.on->properties(), max_n, size_of(type)}, families);
  if (choices.empty())
    throw input_error(op +
                      " does not commute, and this library has no kernel that keeps the order");
  const stage_choice& best = choices.front();
  static std::mutex one_at_a_time;  // for kernels are loaded
  const std::lock_guard lock(one_at_a_time);
  made.by = made.on->make_reduction({best.stage.number, type, op, best.by.shape, max_n});
  return made;
}

}  // namespace

int tenfold_version() {
  return TENFOLD_C_VERSION;
}

const char* tenfold_last_error() {
  return last_error;
}

tenfold_status tenfold_reduce(const char* device, const char* type, const char* op, const void* in,
                              std::uint64_t n, void* out) {
  return status_of([&] {
    if (n != 0) not_null(in, "the input");
    not_null(out, "the place of the result");
    const tenfold_reducer once = make(device, type, op, n);
    const std::uint64_t bytes = n * size_of(parse_element_type(type));
    const std::unique_ptr<memory> elements = once.on->allocate(bytes);
    once.on->upload(elements->data(), in, bytes);
    once.by->enqueue(elements->data(), n);
    std::visit([&](const auto& result) { std::memcpy(out, &result, sizeof result); },
               once.by->result());
  });
}

tenfold_status tenfold_create(tenfold_reducer** made, const char* device, const char* type,
                              const char* op, std::uint64_t max_n) {
  return status_of([&] {
    *not_null(made, "the place of the reducer") = nullptr;
    *made = new tenfold_reducer(make(device, type, op, max_n));
  });
}

tenfold_status tenfold_enqueue(tenfold_reducer* reducer, const void* in, std::uint64_t n, void* out,
                               void* stream) {
  return status_of([&] { not_null(reducer, "the reducer")->by->enqueue_on(stream, in, n, out); });
}

void tenfold_destroy(tenfold_reducer* reducer) {
  delete reducer;
}
