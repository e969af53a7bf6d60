#include "host/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "host/text/terminal.hpp"

namespace tenfold {
namespace {

constexpr std::size_t gap = 2;

std::size_t widest_in(std::size_t column, const table_rows& rows) {
  std::size_t width = 0;
  for (const std::vector<std::string>& row : rows)
    width = std::max(width, shown_width(row[column]));
  return width;
}

/// Columns as narrow as what is in them.
void shrink(std::vector<table_column>& columns, const table_rows& rows) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].width =
        std::max(shown_width(columns[i].heading), widest_in(i, rows)) + (i > 0 ? gap : 0);
}

/// Makes room for cells that would touch those before them.
void widen(std::vector<table_column>& columns, const table_rows& rows) {
  for (std::size_t i = 1; i < columns.size(); ++i)
    if (const std::size_t widest = widest_in(i, rows); widest >= columns[i].width)
      columns[i].width = widest + gap;
}

template <typename T>
std::vector<T> chosen_of(const std::vector<T>& all, std::size_t keys, std::size_t begin,
                         std::size_t end) {
  std::vector<T> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keys));
  chosen.insert(chosen.end(), all.begin() + static_cast<std::ptrdiff_t>(begin),
                all.begin() + static_cast<std::ptrdiff_t>(end));
  return chosen;
}

}  // namespace

std::string table_line(std::span<const table_column> columns, std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].width == 0) continue;
    const std::size_t width = shown_width(cells[i]), before = columns[i].is_left && i > 0 ? gap : 0,
                      blanks = columns[i].width - std::min(columns[i].width, width + before);
    line += std::string(columns[i].is_left ? before : blanks, ' ') + cells[i];
    if (columns[i].is_left) line += std::string(blanks, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string heading_line(std::span<const table_column> columns) {
  std::vector<std::string> headings;
  for (const table_column& each : columns) headings.push_back(each.heading);
  return table_line(columns, headings);
}

std::size_t width_of(std::span<const table_column> columns) {
  return std::accumulate(columns.begin(), columns.end(), std::size_t{0},
                         [](std::size_t sum, const table_column& c) { return sum + c.width; });
}

void spare_columns(std::vector<table_column>& columns) {
  const std::size_t room = terminal_width(stdout).value_or(width_of(columns));
  while (width_of(columns) > room) {
    const auto least = std::ranges::max_element(columns, {}, &table_column::spared);
    if (least->spared == 0) break;
    least->width = least->spared = 0;
  }
}

void print_table(std::vector<table_column> columns, const table_rows& rows, std::size_t keys) {
  widen(columns, rows);
  const std::size_t room = terminal_width(stdout).value_or(width_of(columns));
  if (width_of(columns) > room) shrink(columns, rows);
  const std::size_t key_width = width_of(std::span(columns).first(keys));
  for (std::size_t begin = keys, end; begin < columns.size(); begin = end) {
    std::size_t width = key_width + columns[begin].width;
    for (end = begin + 1; end < columns.size() && width + columns[end].width <= room; ++end)
      width += columns[end].width;
    if (begin != keys) fmt::print("\n");
    const std::vector<table_column> part = chosen_of(columns, keys, begin, end);
    if (const std::string line = heading_line(part); !line.empty())
      fmt::print("{}\n", paint(line, colour::bold));
    for (const std::vector<std::string>& row : rows)
      fmt::print("{}\n", table_line(part, chosen_of(row, keys, begin, end)));
  }
}

}  // namespace tenfold
