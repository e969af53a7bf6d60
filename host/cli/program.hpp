/// @file
/// The programs that a user calls.
#pragma once

namespace tenfold::cli {

/// The program: parses the command line, runs the verb, reports errors in one line.
int run_program(int argc, char** argv);

/// The program that `profile`, `check` and `trace` go on as.
int run_observer(int argc, char** argv);

}  // namespace tenfold::cli
