#include "host/cli/commands.hpp"

int main(int argc, char** argv) {
  return tenfold::cli::run_program(argc, argv);
}
