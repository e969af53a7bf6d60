/// @file
/// Runs the program as its users do: command lines in; exit code, standard output and standard
/// error out.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tenfold::cli_test {

using nlohmann::json;
using words = std::vector<std::string>;
namespace fs = std::filesystem;

constexpr int success = 0, wrong_result = 1, bad_input = 2, device_failed = 3;

inline words operator+(words a, const words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::string join(const words& list) {
  std::string text;
  for (const std::string& each : list) text += " '" + each + "'";
  return text;
}

inline std::string slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline words lines_of(const std::string& text) {
  words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// The same without the lines that say how far a build is, which come where a machine is slow.
inline std::string without_builds(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("tenfold: building ") &&
        !line.starts_with("tenfold: waiting for another build "))
      rest += line + '\n';
  return text.ends_with('\n') || rest.empty() ? rest : rest.substr(0, rest.size() - 1);
}

struct outcome {
  std::string command;
  int code = -1;
  std::string out, err;
  std::uint64_t peak_bytes = 0;  ///< of its memory

  [[nodiscard]] std::string what() const {
    return command + "\nexit code " + std::to_string(code) + "\n--- stdout\n" + out +
           "--- stderr\n" + err;
  }
};

/// A directory of its own for each test, in which the programs run.
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tenfold-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  [[nodiscard]] fs::path in_directory(const std::string& file) const { return directory_ / file; }

  /// Copies a program with the libraries that it takes to start, and none that it loads later.
  fs::path copy_program(const fs::path& program, const std::string& to) const {
    const fs::path folder = fs::path(TENFOLD_PROGRAM).parent_path();
    fs::create_directories(in_directory(to).parent_path());
    fs::copy_file(program, in_directory(to), fs::copy_options::skip_existing);
    for (const char* file : {"libtenfold_executor.so", "libtenfold_host.so", "libtenfold_simt.so",
                             "libtenfold_cuda.so", "libtenfold_hip.so"})
      if (fs::exists(folder / file))
        fs::copy_file(folder / file, in_directory(file), fs::copy_options::skip_existing);
    return in_directory(to);
  }

  /// Runs a program to its end.
  /// @param environment variables set, or unset where the value is empty
  /// @param stdout_path where standard output goes instead of a file of ours
  /// @param meanwhile called once, while the program runs
  outcome spawn(const words& command, const std::map<std::string, std::string>& environment = {},
                const std::string& stdout_path = {},
                const std::function<void(pid_t)>& meanwhile = {}) const {
    const fs::path out = in_directory(".stdout"), err = in_directory(".stderr");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory_.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1,
                                     stdout_path.empty() ? out.c_str() : stdout_path.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    words variables;
    for (char** each = environ; *each != nullptr; ++each) {
      const std::string name(*each, std::strcspn(*each, "="));
      const bool is_ours = name == "TENFOLD_THREADS" || name == "COLUMNS";
      if (!is_ours && !environment.contains(name)) variables.emplace_back(*each);
    }
    for (const auto& [name, value] : environment)
      if (!value.empty()) variables.push_back(name + "=" + value);
    words arguments = command;
    const auto pointers = [](words& list) {
      std::vector<char*> result;
      for (std::string& each : list) result.push_back(each.data());
      result.push_back(nullptr);
      return result;
    };

    outcome result;
    result.command = join(command);
    pid_t child = 0;
    const int failure = posix_spawn(&child, command.front().c_str(), &actions, nullptr,
                                    pointers(arguments).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) throw std::runtime_error("cannot run " + command.front());
    if (meanwhile) meanwhile(child);
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    result.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (stdout_path.empty()) result.out = slurp(out);
    result.err = without_builds(slurp(err));
    EXPECT_FALSE(contains(result.out + result.err, "\x1b")) << "no terminal: " << result.what();
    return result;
  }

  outcome tenfold(const words& arguments,
                  const std::map<std::string, std::string>& environment = {}) const {
    return spawn(words{TENFOLD_PROGRAM} + arguments, environment);
  }

  /// Runs what must succeed, in silence on standard error.
  outcome succeed(const words& arguments,
                  const std::map<std::string, std::string>& environment = {}) const {
    outcome o = tenfold(arguments, environment);
    EXPECT_EQ(o.code, success) << o.what();
    EXPECT_EQ(o.err, "") << o.what();
    return o;
  }

  /// Runs `run` or `ladder` with `--json -`, which must succeed. @return the document
  json measure(const words& arguments,
               const std::map<std::string, std::string>& environment = {}) const {
    const words common{"--repeat", "1", "--json", "-"};
    const words device{"--device", "simt:32"};
    const bool names_device = std::any_of(arguments.begin(), arguments.end(), [](const auto& word) {
      return word == "--device" || word == "--devices";
    });
    const outcome o = succeed(arguments + common + (names_device ? words{} : device), environment);
    json document = json::parse(o.out, nullptr, false);
    if (document.is_discarded()) throw std::runtime_error("no JSON: " + o.what());
    return document;
  }

  /// The only entry of a `run`.
  json measure_one(const words& arguments,
                   const std::map<std::string, std::string>& environment = {}) const {
    json entries = measure(arguments, environment).at("benchmarks");
    if (entries.size() != 1) throw std::runtime_error("not one entry: " + entries.dump());
    EXPECT_EQ(entries[0].at("ok"), true) << join(arguments) << entries.dump(1);
    EXPECT_EQ(entries[0].at("result"), entries[0].at("reference")) << entries.dump(1);
    return entries[0];
  }

  /// A single line on standard error that has all the parts, and nothing on standard output.
  static void expect_refusal(const outcome& o, int code, std::initializer_list<const char*> parts) {
    EXPECT_EQ(o.code, code) << o.what();
    EXPECT_EQ(o.out, "") << o.what();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.what();
    EXPECT_TRUE(o.err.starts_with("tenfold: ")) << o.what();
    EXPECT_TRUE(o.err.ends_with("\n")) << o.what();
    for (const char* part : parts)
      EXPECT_TRUE(contains(o.err, part)) << "without \"" << part << "\": " << o.what();
  }

  /// `run STAGE --device simt:32 ...` refused.
  void expect_run_refused(const words& arguments, int code,
                          std::initializer_list<const char*> parts) const {
    const words device{"--device", "simt:32"};
    const bool names_device = std::any_of(arguments.begin(), arguments.end(), [](const auto& word) {
      return word == "--device" || word == "--devices";
    });
    expect_refusal(tenfold(words{"run"} + arguments + (names_device ? words{} : device)), code,
                   parts);
  }

  void write(const std::string& file, std::string_view bytes) const {
    std::ofstream(in_directory(file), std::ios::binary) << bytes;
  }

  /// A .npy file of format 1.0, as numpy.save writes it.
  template <typename T>
  void write_npy(const std::string& file, const std::vector<T>& elements, std::string shape = {},
                 bool fortran_order = false) const {
    if (shape.empty()) shape = "(" + std::to_string(elements.size()) + ",)";
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    std::string header = "{'descr': '<" + std::string(1, kind) + std::to_string(sizeof(T)) +
                         "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() % 256);
    bytes += static_cast<char>(header.size() / 256);
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
    write(file, bytes);
  }

 private:
  fs::path directory_;
};

}  // namespace tenfold::cli_test
