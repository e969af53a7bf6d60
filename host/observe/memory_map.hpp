/// @file
/// What an address belongs to, in the words of a kernel's author: `in[1024]`, `shared[17]`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/simt/observer.hpp"

namespace tenfold::observe {

struct address_range {
  std::uintptr_t begin = 0, bytes = 0;
  [[nodiscard]] bool holds(std::uintptr_t address) const { return address - begin < bytes; }
};

enum class space {
  global,
  shared,
  own,      ///< of the thread: its stack, `threadIdx` and so on; no lane sees another's
  constant  ///< the program itself without its variables
};

/// An array that some address lies in, or next to.
struct array {
  space in;
  std::string name;  ///< of the kernel's parameter or shared variable
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t element_bytes = 0;  ///< 0: unknown
  bool is_dynamic = false;        ///< shared memory whose size the launch gives
  bool is_variable = false;       ///< of the program, which gives it its first value
  std::uintptr_t first = 0;       ///< element 0: a kernel may be given a place within an allocation

  [[nodiscard]] bool contains(std::uintptr_t address, std::size_t size) const {
    return address >= begin && address - begin <= bytes && size <= bytes - (address - begin);
  }
};

/// `in[1024]`, in elements of `access_bytes` where the array's own are unknown; with the byte where
/// an element is not hit at its beginning.
[[nodiscard]] std::string name_element(const array& a, std::uintptr_t address,
                                       std::size_t access_bytes = 0);

/// Whether no instruction for memory is needed for what is there: `threadIdx` and similar ones,
/// which the executor keeps for the thread that runs.
[[nodiscard]] bool is_position(std::uintptr_t address);

/// Whether the program or a library was loaded there.
[[nodiscard]] bool is_in_program(std::uintptr_t address);

/// The `__device__` variable there, as global memory; null where there is none.
[[nodiscard]] const array* find_variable(std::uintptr_t address);

/// Device memory, and the shared memory of the block that runs. Allocations have room around them,
/// so that no index that is off by less than `guard_bytes` reaches another.
class memory_map {
 public:
  void allocated(const void* memory, std::size_t bytes);
  void released(const void* memory);

  /// Names allocations after the parameters of the kernel that is launched.
  void begin_launch(const simt::launch_facts& launch);
  void begin_block(const simt::launch_facts& launch, const simt::block_memory& memory);

  /// Which memory an address means; nothing where it means none.
  [[nodiscard]] std::optional<space> space_of(std::uintptr_t address) const;
  /// The shared array, allocation or variable that holds an address; null where none does.
  [[nodiscard]] const array* find(std::uintptr_t address) const;
  /// The array that the address was most likely meant for; null where there is none.
  [[nodiscard]] const array* nearest(std::uintptr_t address) const;
  /// The element of the array there or nearest to there, as `name_element` has it.
  [[nodiscard]] std::string name(std::uintptr_t address, std::size_t access_bytes = 0) const;
  [[nodiscard]] const std::vector<array>& shared() const { return shared_; }
  /// By address.
  [[nodiscard]] const std::map<std::uintptr_t, array>& allocations() const { return allocations_; }

 private:
  /// The allocation that holds an address. The address of its end counts as well: an empty
  /// allocation has no other.
  [[nodiscard]] const array* find_from(std::uintptr_t address) const;

  std::map<std::uintptr_t, array> allocations_;
  std::vector<array> shared_;
  address_range stacks_;
};

}  // namespace tenfold::observe
