/// @file
/// Builds files in the build folder of this program when they are asked for: modules, which are
/// libraries of kernels that the program loads, and other targets.
///
/// A file that is missing is built. A file that is older than this program is brought up to date.
/// The environment variable `TENFOLD_REFRESH` changes this. With 1, as `./tenfold` sets it, every
/// file that is asked for is first brought up to date with the sources. With 0, as a build sets it
/// for programs that it calls, a file that exists is taken as it is. Standard error shows the
/// progress of a build, and what the compiler says if a target cannot be built or if there is a
/// warning.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tenfold {

/// The folder of the running build: the one that holds this library.
[[nodiscard]] std::filesystem::path build_folder();

/// Whether the running build is where it was made, and not a copy, which has nothing but what is in
/// it.
[[nodiscard]] bool can_build();

/// Builds the first `at_once` of those modules of a backend that are not built. Where one cannot
/// be, whoever loads it is told.
void fetch_modules(std::string_view backend, std::span<const std::string_view> names,
                   std::size_t at_once);

/// Builds a module where that takes it, and loads it, which registers its kernels.
/// @throws input_error where it cannot be built or loaded
void load_module(std::string_view backend, std::string_view name);

/// Builds a target where that takes it.
/// @param what it is, for the reader who waits: `the peers`
/// @param file of the build folder that it makes
/// @return the file's path
/// @throws input_error where it cannot be built
std::filesystem::path build_target(const std::string& target, std::string_view what,
                                   std::string_view file);

/// Builds the module of that name for several backends, from a source that the program writes, and
/// loads copies of the results. No other program builds meanwhile. The copies do not change if
/// another source is written later.
/// @param prepare writes the source
/// @throws input_error where one cannot be built
void build_and_copy(std::span<const std::string_view> backends, std::string_view name,
                    std::string_view what, const std::function<void()>& prepare);

}  // namespace tenfold
