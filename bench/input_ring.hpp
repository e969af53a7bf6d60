/// @file
/// The data that all contestants read, in so many places that no cache holds the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "host/backend.hpp"
#include "host/reference.hpp"

namespace tenfold::bench {

/// Random elements on the host, enough for the largest n and for a ring.
class host_input {
 public:
  /// @param bytes of the whole
  host_input(element_type type, std::string op, std::uint64_t bytes, std::uint64_t seed);

  [[nodiscard]] element_type type() const { return type_; }
  [[nodiscard]] const std::string& op() const { return op_; }
  [[nodiscard]] const std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// What the operator makes of the first n elements.
  [[nodiscard]] const reference& expected(std::uint64_t n);
  /// The exclusive or of their 32-bit words.
  [[nodiscard]] const reference& checksum(std::uint64_t n);

 private:
  element_type type_;
  std::string op_;
  std::uint64_t bytes_;
  std::unique_ptr<std::byte[]> data_;
  std::map<std::uint64_t, reference> expected_, checksums_;
};

/// The same on a device, as a ring of windows for any n.
class input_ring {
 public:
  /// @throws device_error when the device has no room for it
  input_ring(session& on, const host_input& from);

  /// The i-th place to read n elements from; window 0 is what the reference is made of.
  [[nodiscard]] const void* window(std::uint64_t n, std::uint64_t i) const;

 private:
  std::uint64_t element_bytes_, bytes_;
  std::unique_ptr<memory> data_;
};

/// How large a ring is for a device: four times its last-level cache, a gibibyte at least; no more
/// than the input itself on the executor, which has no cache to speak of.
[[nodiscard]] std::uint64_t ring_bytes(const device_properties& device);

}  // namespace tenfold::bench
