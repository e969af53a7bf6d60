#include "host/reduce/kernel_sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "host/reduce/catalogue.hpp"
#include "host/text/source_diff.hpp"

namespace tenfold {
namespace {

constexpr std::ptrdiff_t most_changed_lines = 25;

TEST(KernelSources, AreThoseOfTheCatalogue) {
  ASSERT_EQ(kernel_sources().size(), catalogue.size());
  for (std::size_t i = 0; i < catalogue.size(); ++i) {
    const std::string number =
        (catalogue[i].number < 10 ? "0" : "") + std::to_string(catalogue[i].number);
    const std::string folder = is_beyond(catalogue[i]) ? "kernels/beyond/" : "kernels/";
    EXPECT_EQ(kernel_sources()[i].file,
              folder + number + "_" + std::string(catalogue[i].name) + ".hpp");
    EXPECT_TRUE(
        kernel_sources()[i].text.starts_with("// Stage " + std::to_string(catalogue[i].number)))
        << "the head of " << kernel_sources()[i].file << " names another stage";
  }
}

TEST(KernelSources, NeighboursDifferByTheirIdeaAlone) {
  for (std::size_t i = 1; i < kernel_sources().size() && !is_beyond(catalogue[i]); ++i) {
    const auto& [before_file, before] = kernel_sources()[i - 1];
    const auto& [after_file, after] = kernel_sources()[i];
    const std::vector<diff_line> lines = diff(code_lines(before), code_lines(after));
    const auto removed = std::ranges::count(lines, edit::remove, &diff_line::kind);
    const auto added = std::ranges::count(lines, edit::add, &diff_line::kind);
    const auto changed = removed + added;
    std::cout << before_file << " -> " << after_file << ": " << changed
              << " lines of code changed (" << removed << " removed, " << added << " added)\n";
    EXPECT_GT(changed, 0);
    EXPECT_LE(changed, most_changed_lines) << before_file << " -> " << after_file;
  }
}

TEST(KernelSources, IncludeNothingButTheVocabulary) {
  const std::regex include(R"(#include ([<"][^>"]*[>"]))");
  for (const auto& [file, text] : kernel_sources()) {
    const std::string source(text);
    for (std::sregex_iterator it(source.begin(), source.end(), include), end; it != end; ++it) {
      const std::string header = (*it)[1];
      EXPECT_TRUE(header == "<cstddef>" || header.starts_with("\"common/"))
          << file << ": " << header;
    }
  }
}

TEST(KernelSources, ShareEveryWordOfTheVocabularyThatTheyUse) {
  const std::regex word(
      R"(\b(gpu::\w+|static_\w+|less_\w+|greater_\w+|not_equal|increment|divide)\b)");
  std::map<std::string, std::set<std::string>> users;
  for (const auto& [file, text] : kernel_sources())
    for (const std::string& line : code_lines(text))
      for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it)
        users[(*it)[1]].insert(std::string(file));
  EXPECT_FALSE(users.empty());
  for (const char* of_the_language : {"static_assert", "static_cast"}) users.erase(of_the_language);
  // These serve the kernels of rows, segments and ranks as well.
  for (const char* of_others_too :
       {"gpu::ballot", "gpu::bound_to_hold", "gpu::broadcast", "gpu::fold_warp", "gpu::shuffle_up"})
    users.erase(of_others_too);
  // Two elements in an instruction, where no operator of theirs is meant.
  for (const char* of_pairs : {"gpu::greater_halves", "gpu::lesser_halves"}) users.erase(of_pairs);
  users.erase("gpu::prefetch");  // has a meaning beside launches that start early alone
  // The words for copies by hardware have a header of their own, which other stages leave out.
  std::erase_if(users, [](const auto& user) { return user.first.find("bulk") != user.first.npos; });
  for (const auto& [name, files] : users)
    EXPECT_GE(files.size(), 2u) << name << " serves " << *files.begin() << " alone";
}

}  // namespace
}  // namespace tenfold
