/// @file
/// What the build folder that this program comes from makes when somebody asks for it: modules, which
/// are libraries of kernels that the program loads, and other targets.
///
/// Where a file is missing it is built. With `TENFOLD_REFRESH=1` in the environment, as `./tenfold`
/// sets it, whatever is asked for is also brought up to date with the sources first.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tenfold {

/// Is told how a build goes that somebody waits for.
class build_listener {
 public:
  virtual ~build_listener() = default;
  /// Called every so often.
  /// @param done  steps of `total` that are done; both 0 as long as that is not known
  virtual void waiting(std::string_view what, int done, int total, double seconds) = 0;
  /// The wait is over.
  virtual void ended() = 0;
  /// What the compiler says where something cannot be built, or can be but not without a warning.
  virtual void said(std::string_view messages) = 0;
};

/// Nobody listens at first.
void set_build_listener(build_listener* listener);

/// The folder of the running build: the one that holds this library.
[[nodiscard]] std::filesystem::path build_folder();

/// Begins to build modules of a backend, in this order, and returns at once.
void fetch_modules(std::string_view backend, std::span<const std::string_view> names);

/// Waits until a module is built, and loads it, which registers its kernels.
/// @throws input_error where it cannot be built or loaded
void load_module(std::string_view backend, std::string_view name);

/// Waits until a target is built.
/// @param what it is, for the listener: `the peers`
/// @param file of the build folder that it makes
/// @return the file's path
/// @throws input_error where it cannot be built
std::filesystem::path build_target(const std::string& target, std::string_view what,
                                   std::string_view file);

/// Keeps every other build of this folder waiting, as long as it exists.
class build_lock {
 public:
  /// Waits for those who hold it. @throws input_error where the folder cannot be written
  build_lock();
  build_lock(const build_lock&) = delete;
  build_lock& operator=(const build_lock&) = delete;
  ~build_lock();

 private:
  int file_;
};

/// Builds targets, one after another as their order says, while the caller holds the lock.
void build_now(std::span<const std::string> targets, std::string_view what, const build_lock&);

/// Loads a copy of a library of the build folder, so that it stays as it is whatever becomes of the
/// file.
void load_copy(const std::filesystem::path& library);

}  // namespace tenfold
