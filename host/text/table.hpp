/// @file
/// Tables that fit the terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tenfold {

struct table_column {
  std::string heading;
  std::size_t width;     ///< characters, with those that part it from the one before; 0: not shown
  bool is_left = false;  ///< where the text stands, two blanks behind the column before
  std::size_t spared = 0;  ///< by the highest first, where there is no room for all; 0: never
};

/// Cells, which may be painted, in columns; without blanks at its end.
[[nodiscard]] std::string table_line(std::span<const table_column> columns,
                                     std::span<const std::string> cells);
/// What stands above the cells.
[[nodiscard]] std::string heading_line(std::span<const table_column> columns);

[[nodiscard]] std::size_t width_of(std::span<const table_column> columns);

/// Lets a terminal show those columns alone that it has room for.
void spare_columns(std::vector<table_column>& columns);

using table_rows = std::vector<std::vector<std::string>>;

/// Prints all of a table, wider where a cell does not fit. On a terminal that is too narrow columns
/// are no wider than what is in them, and stand in parts one below the other, each behind the first
/// `keys` columns.
void print_table(std::vector<table_column> columns, const table_rows& rows, std::size_t keys);

}  // namespace tenfold
