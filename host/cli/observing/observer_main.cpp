#include "host/cli/program.hpp"

int main(int argc, char** argv) {
  return tenfold::cli::run_observer(argc, argv);
}
