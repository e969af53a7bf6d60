/// @file
/// What all programs of the project do with their command line and their errors.
#pragma once

#include <functional>

#include "host/error.hpp"

namespace CLI {
class App;
}

namespace tenfold {

/// Parses and runs; the only place where errors end, in one line each.
/// @return what the process returns
int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<exit_code()>& verb);

}  // namespace tenfold
