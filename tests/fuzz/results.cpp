// Results in JSON, which `tenfold compare` reads.

#include "host/cli/inspecting/result_file.hpp"
#include "tests/fuzz/fuzz.hpp"

void tenfold::fuzz(std::string_view bytes) {
  const file_in_memory file(bytes);
  const std::vector<cli::result_file> files(2, cli::read_result_file(file.path()));
  for (const bool by_shape : {false, true})
    static_cast<void>(cli::summarize(cli::match(files, by_shape).comparisons, 1));
  static_cast<void>(cli::read_shown_results(file.path()));
}
