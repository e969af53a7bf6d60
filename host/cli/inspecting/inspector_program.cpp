#include "host/cli/served_verbs.hpp"

int main(int argc, char** argv) {
  using namespace tenfold::cli;
  return run_verbs("Compares results, and shows the machine code of kernels.", argc, argv,
                   [](CLI::App& app, action& chosen) {
                     add_compare_verb(app, chosen, compare_results);
                     add_isa_verb(app, chosen, show_machine_code);
                   });
}
