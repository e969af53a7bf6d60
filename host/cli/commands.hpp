/// @file
/// The program's verbs.
#pragma once

#include <functional>

#include "host/error.hpp"

namespace CLI {
class App;
}

// In the order of the program's help. To add a verb, add its line here, and NAME_command.cpp in
// browsing/ or measuring/ beside this file, where add_NAME_verb() declares what it takes. The
// script ./tenfold reads these lines too.
// clang-format off
#define TENFOLD_VERBS(VERB) \
  VERB(list)                \
  VERB(devices)             \
  VERB(run)                 \
  VERB(ladder)              \
  VERB(diff)                \
  VERB(new)                 \
  VERB(best)                \
  VERB(completion)

// The verbs of tenfold_inspector, a program of its own that is built when it is first needed.
#define TENFOLD_INSPECTING_VERBS(VERB) \
  VERB(compare)                        \
  VERB(isa)

// The verbs of tenfold_observer, likewise.
#define TENFOLD_OBSERVING_VERBS(VERB) \
  VERB(profile)                       \
  VERB(model)                         \
  VERB(check)                         \
  VERB(trace)
// clang-format on

namespace tenfold::cli {

/// What is to be done once the command line is parsed.
using action = std::function<exit_code()>;

/// What to do for a verb that a program other than `tenfold` serves. That program does the work
/// itself; `tenfold` starts that program.
template <typename Options>
using served_verb = std::function<exit_code(const Options&)>;

#define TENFOLD_DECLARE_VERB(name)                              \
  /** Declares a verb; `chosen` becomes it when it is named. */ \
  void add_##name##_verb(CLI::App& app, action& chosen);
TENFOLD_VERBS(TENFOLD_DECLARE_VERB)
#undef TENFOLD_DECLARE_VERB

/// A program that serves verbs: parses the command line, runs the verb, reports errors in one line.
/// @param add declares the verbs
/// @return what the process returns
int run_verbs(const char* description, int argc, char** argv,
              const std::function<void(CLI::App& app, action& chosen)>& add);

/// The program that a user calls.
int run_program(int argc, char** argv);

}  // namespace tenfold::cli
