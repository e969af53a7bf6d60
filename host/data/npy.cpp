#include "host/data/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "host/error.hpp"

namespace tenfold {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the elements are used as they lie in the file, in little-endian order");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::string_view known_dtypes =
    "'<i4', '<u4', '<i8', '<u8', '<f4', '<f8', '|i1', '|u1' or '<f2'";
constexpr std::string_view rewrite = "write it again with numpy.save";

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view what) {
  throw input_error(fmt::format("'{}' {}", path.string(), what));
}

/// Text from the file, made fit for a message of one line.
std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result(text.substr(0, longest));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  std::replace_if(result.begin(), result.end(), is_control, '?');
  return text.size() > longest ? result + "..." : result;
}

/// A value of a Python literal. `too_large` stands for an integer of more than 64 bits.
struct too_large {};
struct literal;
struct tuple {
  std::vector<literal> items;
};
struct list {
  std::vector<literal> items;
};
struct none {};
struct literal {
  std::variant<none, bool, std::uint64_t, too_large, std::string, tuple, list> v;
};
using dictionary = std::map<std::string, literal, std::less<>>;

/// Why and where a header is not a dictionary; the caller adds the file's name.
struct malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads the subset of Python's literals that numpy's headers are made of.
class literal_parser {
 public:
  explicit literal_parser(std::string_view text) : text_(text) {}

  dictionary parse_dictionary() {
    dictionary result;
    expect('{');
    while (!accept('}')) {
      std::string key = parse_string();
      expect(':');
      result.insert_or_assign(std::move(key), parse_value(0));
      if (!accept(',') && peek() != '}') fail("',' or '}'");
    }
    skip_space();
    if (at_ != text_.size()) fail("the end of the header");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw malformed(fmt::format("expected {} at byte {} of the header", expected, at_));
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n\f", at_), text_.size()); }

  /// The next character that is not space, NUL at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }

  std::string parse_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string");
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) result += text_[at_];
    }
    expect_close(quote);
    return result;
  }

  void expect_close(char quote) {
    if (at_ >= text_.size()) {
      at_ = text_.size();
      fail(fmt::format("a closing {}", quote));
    }
    ++at_;
  }

  literal parse_value(int depth) {
    constexpr int deepest = 32;  // bounds the recursion, whatever the file holds
    if (depth > deepest) fail("fewer nested brackets");
    const char c = peek();
    if (c == '\'' || c == '"') return {parse_string()};
    if (c >= '0' && c <= '9') return parse_integer();
    if (accept('(')) return parse_parenthesis(depth);
    if (accept('[')) return {list{parse_items(']', depth).first}};
    return parse_name();
  }

  literal parse_integer() {
    std::uint64_t number = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), number);
    at_ += static_cast<std::size_t>(end - begin);
    if (status == std::errc::result_out_of_range) return {too_large{}};
    return {number};
  }

  /// As in Python, the comma makes the tuple: `(5)` is the number 5.
  literal parse_parenthesis(int depth) {
    auto [items, ends_with_comma] = parse_items(')', depth);
    if (items.size() == 1 && !ends_with_comma) return std::move(items.front());
    return {tuple{std::move(items)}};
  }

  std::pair<std::vector<literal>, bool> parse_items(char close, int depth) {
    std::vector<literal> items;
    bool comma = true;
    while (!accept(close)) {
      if (!comma) fail(fmt::format("',' or '{}'", close));
      items.push_back(parse_value(depth + 1));
      comma = accept(',');
    }
    return {std::move(items), comma};
  }

  literal parse_name() {
    if (accept_name("True")) return {true};
    if (accept_name("False")) return {false};
    if (accept_name("None")) return {none{}};
    fail("a string, a whole number, a tuple, a list, True, False or None");
  }

  bool accept_name(std::string_view name) {
    if (!text_.substr(at_).starts_with(name)) return false;
    at_ += name.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct header {
  element_type type;
  bool fortran_order;
  std::vector<std::uint64_t> shape;
};

struct dtype {
  std::string_view name;
  element_type type;
};

constexpr std::array<dtype, 9> dtypes{{{"i4", element_type::i32},
                                       {"u4", element_type::u32},
                                       {"i8", element_type::i64},
                                       {"u8", element_type::u64},
                                       {"f4", element_type::f32},
                                       {"f8", element_type::f64},
                                       {"i1", element_type::i8},
                                       {"u1", element_type::u8},
                                       {"f2", element_type::f16}}};

/// As which extensions of NumPy save what it has no type for, bf16 among them.
constexpr std::string_view two_opaque_bytes = "V2";

element_type read_dtype(const std::filesystem::path& path, std::string_view descr) {
  constexpr std::string_view orders = "<>=|";
  const bool has_order = !descr.empty() && orders.find(descr.front()) != std::string_view::npos;
  const std::string_view name = descr.substr(has_order ? 1 : 0);
  const auto has_name = [name](const dtype& d) { return d.name == name; };
  const auto found = std::find_if(dtypes.begin(), dtypes.end(), has_name);
  if (found == dtypes.end()) {
    fail(path, fmt::format("holds elements of type '{}', which is not supported{}: convert them "
                           "with a.astype(t), where t is {}",
                           printable(descr),
                           name == two_opaque_bytes ? " (NumPy has no bf16 and saves it so)" : "",
                           known_dtypes));
  }
  if (descr.front() == '>' && size_of(found->type) > 1) {
    fail(path, fmt::format("is big-endian ('{}'): convert it with "
                           "a.astype(a.dtype.newbyteorder('<'))",
                           descr));
  }
  return found->type;
}

element_type read_dtype(const std::filesystem::path& path, const literal& descr) {
  if (const auto* name = std::get_if<std::string>(&descr.v)) return read_dtype(path, *name);
  if (!std::holds_alternative<list>(descr.v) && !std::holds_alternative<tuple>(descr.v)) {
    throw malformed("'descr' is not a type");
  }
  fail(path, fmt::format("holds structured elements, which are not supported: select one field, "
                         "a['name'], and convert it with a.astype(t), where t is {}",
                         known_dtypes));
}

std::vector<std::uint64_t> read_shape(const std::filesystem::path& path, const literal& shape) {
  const auto* extents = std::get_if<tuple>(&shape.v);
  if (extents == nullptr) throw malformed("'shape' is not a tuple");
  std::vector<std::uint64_t> result;
  for (const literal& extent : extents->items) {
    if (std::holds_alternative<too_large>(extent.v)) {
      fail(path, "has an extent of more than 64 bits in its shape: " + std::string(rewrite));
    }
    const auto* number = std::get_if<std::uint64_t>(&extent.v);
    if (number == nullptr) throw malformed("'shape' is not a tuple of whole numbers");
    result.push_back(*number);
  }
  return result;
}

const literal& require(const dictionary& entries, std::string_view key) {
  const auto found = entries.find(key);
  if (found == entries.end()) throw malformed(fmt::format("'{}' is missing", key));
  return found->second;
}

header read_header(const std::filesystem::path& path, std::string_view text) try {
  const dictionary entries = literal_parser(text).parse_dictionary();
  const literal& descr = require(entries, "descr");
  const literal& order = require(entries, "fortran_order");
  const literal& shape = require(entries, "shape");
  if (entries.size() > 3) throw malformed("there are keys besides descr, fortran_order and shape");
  const auto* fortran_order = std::get_if<bool>(&order.v);
  if (fortran_order == nullptr) throw malformed("'fortran_order' is not True or False");
  return {read_dtype(path, descr), *fortran_order, read_shape(path, shape)};
} catch (const malformed& reason) {
  fail(path, fmt::format("has a malformed header ({}): {}", reason.what(), rewrite));
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t result = 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    result = result << 8 | static_cast<unsigned char>(*byte);
  }
  return result;
}

[[noreturn]] void fail_truncated_header(const std::filesystem::path& path, std::uint64_t expected,
                                        std::size_t found) {
  fail(path, fmt::format("ends inside its header, which takes {} bytes of which {} are there: copy "
                         "the file again or {}",
                         expected, found, rewrite));
}

/// The text of the header, a part of `file`; what follows it is the data.
std::string_view find_header(const std::filesystem::path& path, std::string_view file) {
  if (!file.starts_with(magic)) {
    fail(path, "is not a .npy file: write one with numpy.save (not savez or savetxt)");
  }
  const std::size_t version_end = magic.size() + 2;
  if (file.size() < version_end) fail_truncated_header(path, version_end, file.size());
  const int major = static_cast<unsigned char>(file[magic.size()]);
  const int minor = static_cast<unsigned char>(file[magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    fail(path, fmt::format("has .npy format {}.{}, known are 1.0, 2.0 and 3.0: {}", major, minor,
                           rewrite));
  }
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::size_t text_begin = version_end + length_size;
  if (file.size() < text_begin) fail_truncated_header(path, text_begin, file.size());
  const std::uint64_t length = little_endian(file.substr(version_end, length_size));
  if (file.size() - text_begin < length) {
    fail_truncated_header(path, text_begin + length, file.size());
  }
  return file.substr(text_begin, length);
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The product of the extents, if the bytes of that many elements can be counted.
std::optional<std::uint64_t> count_elements(const header& h) {
  if (std::find(h.shape.begin(), h.shape.end(), 0) != h.shape.end()) return 0;
  std::optional<std::uint64_t> n = 1;
  for (const std::uint64_t extent : h.shape) {
    n = multiply(*n, extent);
    if (!n) return n;
  }
  return multiply(*n, size_of(h.type)) ? n : std::nullopt;
}

class descriptor {
 public:
  /// Does not wait for a writer where the path is a pipe.
  explicit descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::string system_message() {
  return std::generic_category().message(errno);
}

std::size_t regular_size(const std::filesystem::path& path, const descriptor& file) {
  if (file.get() < 0) {
    fail(path, fmt::format("cannot be opened ({}): check the path and its permissions",
                           system_message()));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    fail(path, fmt::format("cannot be examined ({}): check the file system", system_message()));
  }
  if (S_ISDIR(status.st_mode)) fail(path, "is a directory: name a .npy file in it");
  if (!S_ISREG(status.st_mode)) {
    fail(path, "is not a regular file and cannot be mapped: save it to a file first");
  }
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

void npy_file::unmap::operator()(const std::byte* bytes) const noexcept {
  ::munmap(const_cast<std::byte*>(bytes), size);
}

npy_file::mapping npy_file::map(const std::filesystem::path& path) {
  const descriptor file(path);
  const std::size_t size = regular_size(path, file);
  if (size == 0) return {nullptr, unmap{0}};  // mmap refuses a length of 0
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) {
    fail(path, fmt::format("cannot be mapped into memory ({}): copy it to a local file system",
                           system_message()));
  }
  return {static_cast<const std::byte*>(bytes), unmap{size}};
}

npy_file::npy_file(const std::filesystem::path& path) : bytes_(map(path)) {
  const std::string_view file(reinterpret_cast<const char*>(bytes_.get()),
                              bytes_.get_deleter().size);
  const std::string_view text = find_header(path, file);
  header h = read_header(path, text);
  const std::optional<std::uint64_t> n = count_elements(h);
  if (!n) {
    fail(path, fmt::format("has a shape ({}) whose bytes exceed 64 bits: {}",
                           printable(fmt::format("{}", fmt::join(h.shape, ", "))), rewrite));
  }
  offset_ = static_cast<std::size_t>(text.data() + text.size() - file.data());
  const std::uint64_t expected = *n * size_of(h.type);
  if (file.size() - offset_ < expected) {
    fail(path, fmt::format("is truncated, {} bytes of data expected and {} found: copy the file "
                           "again or {}",
                           expected, file.size() - offset_, rewrite));
  }
  type_ = h.type;
  fortran_order_ = h.fortran_order;
  shape_ = std::move(h.shape);
  n_ = *n;
}

}  // namespace tenfold
