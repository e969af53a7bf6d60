#include "host/cli/program.hpp"

int main(int argc, char** argv) {
  return tenfold::cli::run_program(argc, argv);
}
