/// @file
/// A session on a device of the backend that includes this.
#pragma once

#include <memory>
#include <string>

#include "host/backend.hpp"
#include "host/error.hpp"
#include "host/registry/registry.hpp"
#include "host/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

class owned_memory final : public memory {
 public:
  owned_memory(const device& on, std::uint64_t bytes) : bytes_(on, bytes) {}
  std::byte* data() const override { return static_cast<std::byte*>(bytes_.data()); }

 private:
  device_memory bytes_;
};

class device_session final : public session {
 public:
  explicit device_session(int ordinal)
      : device_(ordinal), properties_(device_.properties()), queue_(device_) {}

  const device_properties& properties() const override { return properties_; }
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

  double time(const std::function<void()>& work) override {
    device_.make_current();
    stopwatch_.start(queue_.handle());
    work();
    stopwatch_.stop(queue_.handle());
    return stopwatch_.seconds();
  }

  std::unique_ptr<reduction> make_reduction(const reduction_request& r) override {
    device_.make_current();
    for (const registered_stage& stage : registered_stages())
      if (stage.number == r.stage && stage.element_bytes == size_of(r.type))
        return stage.make(device_, queue_.handle(), r);
    throw input_error("there is no stage " + std::to_string(r.stage) + " in this program");
  }

 private:
  device device_;
  device_properties properties_;
  stream queue_;
  stopwatch stopwatch_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
