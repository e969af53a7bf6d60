#include "host/cli/observing_commands.hpp"

int main(int argc, char** argv) {
  return tenfold::cli::run_observer(argc, argv);
}
