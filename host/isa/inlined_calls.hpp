/// @file
/// Which function calls the compiler put the callee's code in the place of.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenfold::isa {

/// The calls as clang writes them into assembly: as DWARF 4 with a comment on each value.
class inlined_calls {
 public:
  /// To be called for each line of the assembly in turn.
  void read_line(std::string_view line);

  /// How many lines have been read.
  [[nodiscard]] int position() const { return position_; }

  /// To be called after the last line.
  void finish();

  /// After that, for code at a position: the file's number and the line of each call that
  /// the code was inlined for, the innermost first.
  [[nodiscard]] std::vector<std::pair<int, int>> callers_of(int position) const;

 private:
  using label_pairs = std::vector<std::pair<std::string, std::string>>;
  struct call {
    std::string from, to;  ///< labels around the code
    std::string ranges;    ///< or the label of a list of such pairs
    int file = 0, line = 0;
    std::vector<std::pair<int, int>> extents = {};  ///< the same as positions

    [[nodiscard]] bool covers(int position) const;
  };

  void read_info(std::string_view value, std::string_view meaning);
  void read_range(std::string_view label);

  std::vector<call> calls_;
  std::map<std::string, label_pairs, std::less<>> ranges_;
  std::map<std::string, int, std::less<>> labels_;
  label_pairs* list_ = nullptr;  ///< the one being read
  std::string first_;            ///< of the pair being read
  enum class section { code, info, ranges } section_ = section::code;
  bool is_call_ = false;
  int position_ = 0;
};

}  // namespace tenfold::isa
