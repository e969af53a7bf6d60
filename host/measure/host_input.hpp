/// @file
/// What is reduced: on the host, with what should come out, and on a device, in so many places that
/// no cache holds the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/backends/backend.hpp"
#include "host/data/npy.hpp"
#include "host/data/reference.hpp"
#include "host/ranks/ranks.hpp"

namespace tenfold::measure {

/// Where elements come from.
enum class origin {
  exact,     ///< random, and no sum of them rounds: the smallest error shows
  rounding,  ///< random, and sums of them round as those of real data do
  file
};

/// `exact`, `rounding`, `file`
[[nodiscard]] std::string_view name_of(origin from);

/// Elements on the host, or this rank's share of them, and what an operator makes of the first n of
/// them, or of all ranks' shares.
class host_input {
 public:
  /// Random ones.
  /// @throws device_error when the host has no room for them
  host_input(element_type type, std::string op, std::uint64_t n, std::uint64_t seed,
             origin from = origin::exact, const ranks* among = nullptr);
  /// Those of a file.
  host_input(npy_file file, std::string op, const ranks* among = nullptr);

  [[nodiscard]] element_type type() const { return type_; }
  [[nodiscard]] const std::string& op() const { return op_; }
  /// Of this rank.
  [[nodiscard]] std::uint64_t n() const { return part_.count; }
  /// At any address.
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] origin from() const { return from_; }

  /// A second input of as many elements, for the verdict alone: one whose sums round if this one is
  /// exact, an exact one if this one is from a file. Null if sums of this one round by design, if
  /// results are exact anyhow, or if the host of a rank has no room for it.
  [[nodiscard]] host_input* companion();

  /// What the operator makes of the first n elements; computed once.
  [[nodiscard]] const reference& expected(std::uint64_t n);
  /// The exclusive or of their 32-bit words.
  [[nodiscard]] const reference& checksum(std::uint64_t n);

 private:
  [[nodiscard]] bool has_room_for_another() const;

  element_type type_;
  std::string op_;
  std::uint64_t n_, seed_ = 1;  ///< n of all ranks
  origin from_;
  const ranks* among_;
  share part_;
  std::unique_ptr<std::byte[]> random_;
  std::optional<npy_file> file_;
  const std::byte* data_;
  std::map<std::uint64_t, reference> expected_, checksums_;
  std::unique_ptr<host_input> companion_;
};

/// The first n elements of an input in a device's memory, over and over, as a ring of windows.
class input_ring {
 public:
  /// @param bytes of the ring; 0: a single window. Otherwise it has at least two windows, since of
  ///   a single one a part stays in the cache even if loads are marked as read once. It takes no
  ///   more than half of the free memory, unless one window alone is larger.
  /// @throws device_error when the device has no room for one
  input_ring(session& on, const host_input& from, std::uint64_t n, std::uint64_t bytes);
  /// The elements where they are on the host, as a single window for the CPU.
  /// @param from outlives this
  explicit input_ring(const host_input& from) : data_(from.data()) {}

  /// The i-th place to read them from.
  [[nodiscard]] const void* window(std::uint64_t i) const { return data_ + i % windows_ * stride_; }
  /// The number of the one that has not been read for the longest time, by whomever.
  [[nodiscard]] std::uint64_t next() { return turn_++; }
  /// Has a kernel write the i-th anew, of another that holds the same.
  /// @param on where they are, which is not the host
  void produce(session& on, std::uint64_t i, std::uint64_t bytes) {
    on.produce(memory_->data() + i % windows_ * stride_, window(i + windows_ / 2), bytes);
  }

 private:
  std::uint64_t stride_ = 0, windows_ = 1, turn_ = 0;
  std::unique_ptr<memory> memory_;
  const std::byte* data_ = nullptr;
};

/// How large a ring is for a device: four times its last-level cache, a gibibyte at least; a single
/// window on the executor, which has no cache to speak of.
[[nodiscard]] std::uint64_t ring_bytes(const device_properties& device);

}  // namespace tenfold::measure
