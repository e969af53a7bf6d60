#include "host/measure/build_facts.hpp"

#include "host/text/process.hpp"

namespace tenfold::measure {
namespace {

bool has_changed_since(const std::string& commit) {
  if (find_program("git").empty()) return false;
  const temporary_folder folder;
  return run_process({"git", "-c", "safe.directory=*", "-C", TENFOLD_SOURCE_FOLDER, "diff",
                      "--quiet", commit, "--", "kernels", "common", "host", "bench"},
                     folder)
             .exit_status == 1;
}

using fact_list = std::vector<std::pair<std::string, std::string>>;

fact_list find_facts() {
  fact_list facts{{"version", TENFOLD_VERSION}};
  if (const std::string commit = TENFOLD_COMMIT; !commit.empty())
    facts.emplace_back("commit", has_changed_since(commit) ? commit + " with changes" : commit);
  facts.emplace_back("compiler", TENFOLD_COMPILERS);
  return facts;
}

}  // namespace

const fact_list& build_facts() {
  static const fact_list facts = find_facts();  // asks Git, and a ladder writes after each stage
  return facts;
}

}  // namespace tenfold::measure
