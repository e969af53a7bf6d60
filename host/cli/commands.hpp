/// @file
/// The program's verbs.
#pragma once

#include <functional>

#include "host/error.hpp"

namespace CLI {
class App;
}

// In the order of the program's help. To add a verb, add its line here, and NAME_command.cpp in
// kernels/ or measuring/ beside this file, where add_NAME_verb() declares what it takes. The script
// ./tenfold reads these lines too.
// clang-format off
#define TENFOLD_VERBS(VERB) \
  VERB(list)                \
  VERB(devices)             \
  VERB(run)                 \
  VERB(ladder)              \
  VERB(diff)                \
  VERB(new)                 \
  VERB(best)

// Those that other programs serve, which are built when somebody asks for them: tenfold_inspector
#define TENFOLD_INSPECTING_VERBS(VERB) \
  VERB(compare)                        \
  VERB(isa)

// and tenfold_observer.
#define TENFOLD_OBSERVING_VERBS(VERB) \
  VERB(profile)                       \
  VERB(check)                         \
  VERB(trace)
// clang-format on

namespace tenfold::cli {

/// What is to be done once the command line is parsed.
using action = std::function<exit_code()>;

#define TENFOLD_DECLARE_VERB(name)                              \
  /** Declares a verb; `chosen` becomes it when it is named. */ \
  void add_##name##_verb(CLI::App& app, action& chosen);
TENFOLD_VERBS(TENFOLD_DECLARE_VERB)
#undef TENFOLD_DECLARE_VERB

}  // namespace tenfold::cli
