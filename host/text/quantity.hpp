/// @file
/// Counts, times, sizes and shares as text, in both directions where the user types them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

/// Reads a number of elements.
///
/// Accepts plain digits with optional `_` between them (`1_000_000`), a power (`2^24`), and a
/// decimal number with an optional exponent and one optional suffix: `k`, `M`, `G`, `T` for powers
/// of 1000, `Ki`, `Mi`, `Gi`, `Ti` for powers of 1024. `2.5e6` and `1.5Gi` are exact; `2.5` is not
/// a count.
///
/// @throws input_error with examples of the accepted forms, if `text` is none of them, is negative
///   or not whole, or exceeds 2^64-1.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);

/// Reads sizes: counts and ranges with commas between them, `1000,2^20..2^28`. A range goes from
/// one count to another by doubling, or by a factor that follows it: `2^10..2^30:4`.
/// @return them in ascending order, each once; at least one
/// @throws input_error
[[nodiscard]] std::vector<std::uint64_t> parse_sizes(std::string_view text);

/// `2^24` for a power of two of at least 1024, plain digits otherwise; `parse_count` reads both.
[[nodiscard]] std::string format_count(std::uint64_t count);

/// A time given in seconds with three significant digits in ns, us, ms or s: `1.23 us`.
[[nodiscard]] std::string format_seconds(double seconds);

/// A size in bytes in the largest binary unit it fills, `64 MiB`; three significant digits where
/// it is no whole number of them, `1.50 GiB`.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// `1 entry`, `2 entries`, `no entry`.
[[nodiscard]] std::string format_number_of(std::size_t count, std::string_view one,
                                           std::string_view many);

/// A share of 1 in per cent, `91.3%`; empty where there is none.
[[nodiscard]] std::string format_share(const std::optional<double>& share);

}  // namespace tenfold
