/// @file
/// The data that stages are measured on: on the host, on the device, and what should come out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/backend.hpp"
#include "host/cli/options.hpp"
#include "host/npy.hpp"
#include "host/reference.hpp"

namespace tenfold::cli {

/// One input for all stages: made once, copied to the device, its reference computed once for each
/// size.
class workload {
 public:
  /// @param on outlives this
  /// @throws input_error, device_error
  workload(const options& o, const device_choice& choice, session& on);

  /// From now on the first `n` elements alone are the input.
  void shrink_to(std::uint64_t n);

  [[nodiscard]] element_type type() const { return type_; }
  [[nodiscard]] const std::string& op() const { return op_; }
  [[nodiscard]] std::uint64_t n() const { return n_; }
  [[nodiscard]] std::uint64_t bytes() const { return n_ * size_of(type_); }
  [[nodiscard]] const reference& expected() const { return reference_; }
  /// The exclusive or of the 32-bit words.
  [[nodiscard]] const reference& checksum();
  /// `2^20 random f32 (seed 1)`, `1000 f64 from data.npy`
  [[nodiscard]] std::string description() const;
  /// The same without the size.
  [[nodiscard]] const std::string& source() const { return source_; }
  /// The elements on the host, at any address.
  [[nodiscard]] const std::byte* on_host() const { return host_.data(); }
  /// The next of several copies on the device, as many as it takes, up to 4096, for the others to
  /// push it out of the last-level cache before its next turn.
  [[nodiscard]] const void* next_copy();

 private:
  void choose_size(const options& o, const device_choice& choice, session& on);
  void fill(const options& o);
  void copy();

  session& on_;
  element_type type_ = element_type::f32;
  std::string op_;
  std::uint64_t n_ = 0;
  std::optional<npy_file> file_;
  std::vector<std::byte> random_;
  std::span<const std::byte> host_;
  std::vector<std::unique_ptr<memory>> copies_;
  std::size_t turn_ = 0;
  tenfold::reference reference_;
  std::optional<reference> checksum_;
  std::string source_;
};

}  // namespace tenfold::cli
