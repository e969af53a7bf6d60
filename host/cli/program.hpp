/// @file
/// The program that a user calls.
#pragma once

namespace tenfold::cli {

/// The program: parses the command line, runs the verb, reports errors in one line.
int run_program(int argc, char** argv);

}  // namespace tenfold::cli
