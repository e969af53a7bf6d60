/// @file
/// What somebody may have meant who wrote a word that nobody knows.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenfold {

/// ` (did you mean 'ladder'?)` for `lader`; empty where no known word begins like it or is a slip
/// of the finger away, or two in a longer word.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace tenfold
