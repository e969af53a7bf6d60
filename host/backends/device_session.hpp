/// @file
/// The backend that includes this: how it finds its kernels, and a session on one of its devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/gpu.hpp"
#include "host/backends/backend.hpp"
#include "host/backends/module.hpp"
#include "host/error.hpp"
#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// A library with the kernels of a stage for a type, which is loaded, and where it takes that
/// built, when somebody asks for what is in it.
struct kernel_module {
  int number;
  element_type type;
  std::string_view op;    ///< as in `registered_stage`
  std::string_view name;  ///< `03_no_bank_conflicts_of_f32_sum`
};

/// All modules of a backend, built or not.
struct module_list {
  std::string_view backend;  ///< also the folder that they are in
  std::span<const kernel_module> modules;
};
[[nodiscard]] module_list kernel_modules();

/// The module that has a stage's kernels for a type and operator; null where none has.
[[nodiscard]] inline const kernel_module* find_module(int number, element_type type,
                                                      std::string_view op) {
  for (const std::string_view wanted : {op, std::string_view()})
    for (const kernel_module& each : kernel_modules().modules)
      if (each.number == number && each.type == type && each.op == wanted) return &each;
  return nullptr;
}

/// A kernel such as a program runs before a reduction: it writes what the reduction reads. Copies
/// 16 bytes a thread and turn, and the last few bytes one by one. Both arrays are aligned to
/// 16 bytes. It lets no other kernel begin early. Not inline: Clang ignores that of a kernel.
__global__ static void write_input(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  struct alignas(16) vector {
    std::uint32_t words[4];
  };
  const std::uint64_t vectors = bytes / sizeof(vector);
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = thread; i < vectors; i += threads)
    reinterpret_cast<vector*>(to)[i] = reinterpret_cast<const vector*>(from)[i];
  const std::uint64_t last = vectors * sizeof(vector) + thread;
  if (last < bytes) to[last] = from[last];
}

class owned_memory final : public memory {
 public:
  owned_memory(const device& on, std::uint64_t bytes) : bytes_(on, bytes) {}
  std::byte* data() const override { return static_cast<std::byte*>(bytes_.data()); }

 private:
  device_memory bytes_;
};

class replayable_graph final : public recording {
 public:
  replayable_graph(const device& on, stream_handle queue, std::function<void()> work)
      : device_(on), queue_(queue), graph_(queue, std::move(work)) {}
  void replay() override {
    device_.make_current();
    graph_.launch(queue_);
  }

 private:
  device device_;
  stream_handle queue_;
  graph graph_;
};

class device_session final : public session {
 public:
  explicit device_session(int ordinal)
      : device_(ordinal), properties_(device_.properties()), queue_(device_) {}

  /// For the peers of the same backend, which are no stages.
  const device& opened() const { return device_; }
  stream_handle queue() const { return queue_.handle(); }

  const device_properties& properties() const override { return properties_; }
  device_facts facts() const override { return facts_of(device_); }
  std::uint64_t free_bytes() const override { return device_.free_bytes(); }

  std::unique_ptr<memory> allocate(std::uint64_t bytes) override {
    return std::make_unique<owned_memory>(device_, bytes);
  }

  void upload(void* to, const void* from, std::uint64_t bytes) override {
    device_.make_current();
    copy_to_device(to, from, bytes, queue_.handle());
    queue_.synchronize();
  }

  void download(void* to, const void* from, std::uint64_t bytes) override {
    device_.make_current();
    copy_to_host(to, from, bytes, queue_.handle());
    queue_.synchronize();
  }

  void synchronize() override { queue_.synchronize(); }

  /// With as many threads as keep the memory busy.
  void produce(void* to, const void* from, std::uint64_t bytes) override {
    constexpr int block = 256, blocks_per_multiprocessor = 16;
    constexpr std::uint64_t bytes_per_block = std::uint64_t{block} * 16;
    if (bytes == 0) return;
    const std::uint64_t most =
        static_cast<std::uint64_t>(properties_.multiprocessors) * blocks_per_multiprocessor;
    const std::uint64_t blocks = std::min((bytes + bytes_per_block - 1) / bytes_per_block, most);
    void* arguments[] = {&to, &from, &bytes};
    launch(kernel_handle(&write_input), blocks, block, 0, queue_.handle(), arguments);
  }

  double time(const std::function<void()>& work) override {
    device_.make_current();
    stopwatch_.start(queue_.handle());
    work();
    stopwatch_.stop(queue_.handle());
    return stopwatch_.seconds();
  }

  std::unique_ptr<recording> record(std::function<void()> work) override {
    device_.make_current();
    return std::make_unique<replayable_graph>(device_, queue_.handle(), std::move(work));
  }

  std::string hardware_lack(int capability) const override {
    return TENFOLD_BACKEND::hardware_lack(device_, capability);
  }

  /// Loads the kernels first, where they are not.
  std::unique_ptr<reduction> make_reduction(const reduction_request& r) override {
    device_.make_current();
    const kernel_module* const in = find_module(r.stage, r.type, r.op);
    const std::string_view op = in == nullptr ? "" : in->op;
    auto found = find_registered(r.stage, r.type, op);
    if (found == nullptr && in != nullptr) {
      load_module(kernel_modules().backend, in->name);
      found = find_registered(r.stage, r.type, op);
    }
    if (found == nullptr) refuse(r);
    return std::unique_ptr<reduction>(found->make(device_, queue_.handle(), r));
  }

  std::function<void(const array_call&)> calls_of(element_type type) override {
    if (find_calls(type) == nullptr)
      load_module(kernel_modules().backend, "calls_of_" + std::string(name_of(type)));
    return [this, serve = find_calls(type)](const array_call& c) {
      device_.make_current();
      serve(device_, c);
    };
  }

 private:
  /// Null where no unit that is loaded has registered them.
  [[nodiscard]] static array_call_function find_calls(element_type type) {
    for (const registered_call& each : registered_calls())
      if (each.type == type) return each.serve;
    return nullptr;
  }

  /// Null where no unit that is loaded has registered it.
  [[nodiscard]] static const registered_stage* find_registered(int number, element_type type,
                                                               std::string_view op) {
    for (const registered_stage& each : registered_stages())
      if (each.number == number && each.type == type && each.op == op) return &each;
    return nullptr;
  }

  /// Says what does serve.
  [[noreturn]] static void refuse(const reduction_request& r) {
    std::string types, stages;
    const auto append = [](std::string& list, std::string_view entry) {
      if ((", " + list + ", ").find(", " + std::string(entry) + ", ") == list.npos)
        list += (list.empty() ? "" : ", ") + std::string(entry);
    };
    for (const registered_stage& stage : registered_stages())
      if (stage.number == r.stage) append(types, name_of(stage.type));
    if (!types.empty() && r.stage >= first_unlisted_number)
      throw input_error("a kernel that is no stage of the ladder is built for elements of type " +
                        types + ", not of " + std::string(name_of(r.type)));
    for (const kernel_module& each : kernel_modules().modules) {
      if (each.number == r.stage) append(types, name_of(each.type));
      if (each.type == r.type) append(stages, std::to_string(each.number));
    }
    const std::string what = "stage " + std::to_string(r.stage);
    if (types.empty()) throw input_error("there is no " + what + " in this program");
    if (find_module(r.stage, r.type, "sum") != nullptr)
      throw input_error(what + " has sums alone, no " + r.op + ": use another stage");
    throw input_error(what + " takes no elements of type " + std::string(name_of(r.type)) +
                      ", only of " + types + ": use --type " + types.substr(0, types.find(',')) +
                      " or one of the stages " + stages);
  }

  device device_;
  device_properties properties_;
  stream queue_;
  stopwatch stopwatch_;
};

class backend_of_modules final : public backend {
 public:
  explicit backend_of_modules(std::string_view name) : name_(name) {}

  std::string_view name() const override { return name_; }

#if defined(TENFOLD_RUNTIME)
  std::vector<int> devices() const override {
    std::vector<int> numbers(static_cast<std::size_t>(device_count()));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  std::string absence() const override { return device_absence(); }
#else
  std::vector<int> devices() const override { return {warp_sizes.begin(), warp_sizes.end()}; }
  std::string absence() const override { return {}; }
#endif

  bool serves(int stage, element_type type, std::string_view op) const override {
    const auto is_it = [&](const auto& each) {
      return each.number == stage && each.type == type && (each.op.empty() || each.op == op);
    };
    return std::ranges::any_of(registered_stages(), is_it) ||
           std::ranges::any_of(kernel_modules().modules, is_it);
  }

  void fetch(std::span<const kernel_choice> wanted, std::size_t at_once) const override {
    std::vector<std::string_view> names;
    for (const kernel_choice& each : wanted)
      if (const kernel_module* in = find_module(each.stage, each.type, each.op))
        names.push_back(in->name);
    fetch_modules(kernel_modules().backend, names, at_once);
  }

  std::string_view modules() const override { return kernel_modules().backend; }

  std::unique_ptr<session> open(int device) const override {
    return std::make_unique<device_session>(device);
  }

 private:
  std::string_view name_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
