/// @file
/// NumPy's `.npy` files as input, mapped into memory and never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "host/reduce/element.hpp"

namespace tenfold {

/// A read-only memory mapping of a `.npy` file of format 1.0, 2.0 or 3.0.
///
/// The elements are one of `i1`, `u1`, `i4`, `u4`, `i8`, `u8`, `f2`, `f4` and `f8` in little-endian
/// order; NumPy has no bf16. A file that another process shortens while it is mapped ends the
/// program with SIGBUS. After a move only destruction and assignment are allowed on the source.
class npy_file {
 public:
  /// Maps the file and reads its header. `-` is standard input, which is first kept in a file
  /// without a name in TMPDIR where it is a pipe.
  /// @throws input_error naming the file, what is wrong with it and the remedy.
  explicit npy_file(const std::filesystem::path& path);

  [[nodiscard]] element_type type() const noexcept { return type_; }

  /// Number of elements: the product of the shape, 1 for a scalar.
  [[nodiscard]] std::uint64_t n() const noexcept { return n_; }

  /// The elements in file order, n() * size_of(type()) bytes, valid as long as this object. The
  /// address is a multiple of the element's size only if the writer padded the header.
  [[nodiscard]] std::span<const std::byte> data() const noexcept {
    return {bytes_.get() + offset_, n_ * size_of(type_)};
  }

 private:
  struct unmap {
    std::size_t size;
    void operator()(const std::byte* bytes) const noexcept;
  };
  using mapping = std::unique_ptr<const std::byte, unmap>;

  static mapping map(const std::filesystem::path& path);

  mapping bytes_;
  std::size_t offset_ = 0;
  element_type type_ = element_type::i32;
  std::uint64_t n_ = 0;
};

}  // namespace tenfold
