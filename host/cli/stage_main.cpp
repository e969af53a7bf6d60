#include "host/cli/commands.hpp"

int main(int argc, char** argv) {
  return tenfold::cli::run_stage_program(TENFOLD_STAGE_FILE, argc, argv);
}
