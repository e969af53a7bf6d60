/// @file
/// What the program's own symbol table says of a kernel: its name, its static shared memory, and
/// the variables that it shares with all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/simt/observer.hpp"

namespace tenfold::simt {

/// A `__shared__` variable. It is a thread-local one of the OS thread that runs the block.
struct shared_variable {
  std::string name;    ///< as its author wrote it
  std::size_t module;  ///< the loaded object that defines it, as the loader numbers those with such
  std::size_t offset;  ///< bytes from the start of that object's thread-local storage
  std::size_t size;    ///< bytes
};

/// A variable that can change: to kernels, a `__device__` one.
struct program_variable {
  std::string name;  ///< as its author wrote it
  std::uintptr_t address;
  std::size_t size;  ///< bytes
};

struct kernel_symbols {
  std::string name;                     ///< short: `naive::reduce_blocks<float, float, sum<float>>`
  std::vector<shared_variable> shared;  ///< its own and those of the device functions it may call
  std::size_t static_shared_bytes = 0;  ///< of its own ones
  std::uintptr_t begin = 0, bytes = 0;  ///< of its code; 0: unknown
};

/// Looks a kernel up by its address; each is read from the ELF symbol tables once, those of
/// libraries that were loaded since included. A program whose tables were stripped loses the name
/// and the poisoning of static shared memory, nothing else.
[[nodiscard]] const kernel_symbols& describe_kernel(const void* kernel);

/// All variables of the program and of the libraries that hold kernels, of what `describe_kernel`
/// has seen loaded, by address.
[[nodiscard]] std::vector<program_variable> program_variables();

/// How many objects that is.
[[nodiscard]] std::size_t loaded_objects();

/// Where the calling OS thread holds a kernel's shared variables.
[[nodiscard]] std::vector<shared_area> locate_shared(const kernel_symbols& kernel);

/// Shortens a demangled function signature to what tells kernels apart.
[[nodiscard]] std::string readable_kernel_name(std::string demangled);

}  // namespace tenfold::simt
