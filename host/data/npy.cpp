#include "host/data/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"
#include "host/text/terminal.hpp"

namespace tenfold {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the elements are used as they lie in the file, in little-endian order");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::string_view known_dtypes =
    "'<i4', '<u4', '<i8', '<u8', '<f4', '<f8', '|i1', '|u1' or '<f2'";
constexpr std::string_view rewrite = "write it again with numpy.save";

/// What is wrong with the file; its name comes before that.
template <typename... T>
[[noreturn]] void fail(fmt::format_string<T...> what, T&&... values) {
  throw input_error(fmt::format(what, std::forward<T>(values)...));
}

[[noreturn]] void fail_as_foreign() {
  fail("is not a .npy file: write one with numpy.save (not savez or savetxt)");
}

[[noreturn]] void fail_malformed(std::string_view reason) {
  fail("has a malformed header ({}): {}", reason, rewrite);
}

/// Text from the file, made fit for a message of one line.
std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  const std::string result = harmless(text.substr(0, longest));
  return text.size() > longest ? result + "..." : result;
}

/// What follows a key and its colon in a header, the text of a dictionary of Python's.
std::string_view value_of(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{0}{1}{0}", quote, key);
    const std::size_t at = header.find(quoted);
    if (at == header.npos) continue;
    const std::string_view rest = trimmed(header.substr(at + quoted.size()));
    if (rest.starts_with(':')) return trimmed(rest.substr(1));
  }
  fail_malformed(fmt::format("'{}' is missing", key));
}

struct dtype {
  std::string_view name;
  element_type type;
};

constexpr dtype dtypes[] = {
    {"i4", element_type::i32}, {"u4", element_type::u32}, {"i8", element_type::i64},
    {"u8", element_type::u64}, {"f4", element_type::f32}, {"f8", element_type::f64},
    {"i1", element_type::i8},  {"u1", element_type::u8},  {"f2", element_type::f16},
};

/// As which extensions of NumPy save what it has no type for, bf16 among them.
constexpr std::string_view two_opaque_bytes = "V2";

element_type read_dtype(std::string_view descr) {
  constexpr std::string_view orders = "<>=|";
  const bool has_order = !descr.empty() && orders.find(descr.front()) != std::string_view::npos;
  const std::string_view name = descr.substr(has_order ? 1 : 0);
  const auto has_name = [name](const dtype& d) { return d.name == name; };
  const auto found = std::ranges::find_if(dtypes, has_name);
  if (found == std::end(dtypes))
    fail(
        "holds elements of type '{}', which is not supported{}: convert them with a.astype(t), "
        "where t is {}",
        printable(descr), name == two_opaque_bytes ? " (NumPy has no bf16 and saves it so)" : "",
        known_dtypes);
  if (descr.front() == '>' && size_of(found->type) > 1)
    fail("is big-endian ('{}'): convert it with a.astype(a.dtype.newbyteorder('<'))", descr);
  return found->type;
}

element_type read_descr(std::string_view descr) {
  if (descr.starts_with('[') || descr.starts_with('('))
    fail(
        "holds structured elements, which are not supported: select one field, a['name'], and "
        "convert it with a.astype(t), where t is {}",
        known_dtypes);
  if (!descr.starts_with('\'') && !descr.starts_with('"')) fail_malformed("'descr' is not a type");
  const std::size_t close = descr.find(descr.front(), 1);
  if (close == descr.npos) fail_malformed("'descr' is not a type");
  return read_dtype(descr.substr(1, close - 1));
}

/// In which order the elements lie is all the same to a reduction.
void check_order(std::string_view order) {
  if (!order.starts_with("True") && !order.starts_with("False"))
    fail_malformed("'fortran_order' is not True or False");
}

std::vector<std::uint64_t> read_shape(std::string_view shape) {
  const std::size_t close = shape.find(')');
  if (!shape.starts_with('(') || close == shape.npos) fail_malformed("'shape' is not a tuple");
  std::string_view rest = trimmed(shape.substr(1, close - 1));
  std::vector<std::uint64_t> extents;
  while (!rest.empty()) {
    std::uint64_t extent = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (status == std::errc::result_out_of_range)
      fail("has an extent of more than 64 bits in its shape: {}", rewrite);
    rest = trimmed(rest.substr(static_cast<std::size_t>(end - rest.data())));
    if (status != std::errc{} || (!rest.empty() && !rest.starts_with(',')))
      fail_malformed("'shape' is not a tuple of whole numbers");
    extents.push_back(extent);
    if (!rest.empty()) rest = trimmed(rest.substr(1));
  }
  return extents;
}

[[noreturn]] void fail_truncated_header(std::uint64_t expected, std::size_t found) {
  fail(
      "ends inside its header, which takes {} bytes of which {} are there: copy the file again or "
      "{}",
      expected, found, rewrite);
}

/// The text of the header, a part of `file`; what follows it is the data.
std::string_view find_header(std::string_view file) {
  if (!file.starts_with(magic)) fail_as_foreign();
  const std::size_t version_end = magic.size() + 2;
  if (file.size() < version_end) fail_truncated_header(version_end, file.size());
  const int major = static_cast<unsigned char>(file[magic.size()]);
  const int minor = static_cast<unsigned char>(file[magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0)
    fail("has .npy format {}.{}, known are 1.0, 2.0 and 3.0: {}", major, minor, rewrite);
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::size_t text_begin = version_end + length_size;
  if (file.size() < text_begin) fail_truncated_header(text_begin, file.size());
  std::uint64_t length = 0;
  std::memcpy(&length, &file[version_end], length_size);
  if (file.size() - text_begin < length) fail_truncated_header(text_begin + length, file.size());
  return file.substr(text_begin, length);
}

/// The product of the extents, if the bytes of that many elements can be counted.
std::optional<std::uint64_t> count_elements(const std::vector<std::uint64_t>& shape,
                                            std::size_t element_bytes) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return bytes / element_bytes;
}

/// A file of no name that holds what comes through standard input, up to its end.
int keep_standard_input() {
  if (is_terminal(stdin)) fail("is the terminal: lead a file there, as in '--input - < data.npy'");
  std::error_code failure;
  std::string name = (std::filesystem::temp_directory_path(failure) / "tenfold-XXXXXX").string();
  owned_descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  const auto fail_to_keep = [&] {
    fail("cannot be kept in {} ({}): set TMPDIR to a folder that has room", name,
         std::strerror(errno));
  };
  if (file.number() < 0) fail_to_keep();
  ::unlink(name.c_str());
  std::array<char, 64 * 1024> part;
  std::string beginning;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read ({})", std::strerror(errno));
    if (got == 0) return ::fcntl(file.number(), F_DUPFD_CLOEXEC, 0);
    // Other data may have no end, so they are refused as soon as the beginning differs.
    if (beginning.size() < magic.size())
      beginning.append(part.data(), static_cast<std::size_t>(got));
    if (!std::string_view(beginning)
             .substr(0, magic.size())
             .starts_with(magic.substr(0, beginning.size())))
      fail_as_foreign();
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          ::write(file.number(), part.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0) fail_to_keep();
      done += put;
    }
  }
}

std::size_t regular_size(const owned_descriptor& file) {
  if (file.number() < 0)
    fail("cannot be opened ({}): check the path and its permissions", std::strerror(errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0)
    fail("cannot be examined ({}): check the file system", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("is a directory: name a .npy file in it");
  if (!S_ISREG(status.st_mode))
    fail("is not a regular file and cannot be mapped: save it to a file first");
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

void npy_file::unmap::operator()(const std::byte* bytes) const noexcept {
  ::munmap(const_cast<std::byte*>(bytes), size);
}

npy_file::mapping npy_file::map(const std::filesystem::path& path) {
  // Where the path is a pipe, this does not wait for a writer.
  struct stat in {};
  const bool is_kept = path == "-" && ::fstat(STDIN_FILENO, &in) == 0 && !S_ISREG(in.st_mode);
  const owned_descriptor file(is_kept ? keep_standard_input()
                                      : ::open(path == "-" ? "/dev/stdin" : path.c_str(),
                                               O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const std::size_t size = regular_size(file);
  if (size == 0) return {nullptr, unmap{0}};  // mmap refuses a length of 0
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (bytes == MAP_FAILED)
    fail("cannot be mapped into memory ({}): copy it to a local file system", std::strerror(errno));
  return {static_cast<const std::byte*>(bytes), unmap{size}};
}

npy_file::npy_file(const std::filesystem::path& path) try : bytes_(map(path)) {
  const std::string_view file(reinterpret_cast<const char*>(bytes_.get()),
                              bytes_.get_deleter().size);
  const std::string_view text = find_header(file);
  type_ = read_descr(value_of(text, "descr"));
  check_order(value_of(text, "fortran_order"));
  const std::vector<std::uint64_t> shape = read_shape(value_of(text, "shape"));
  const std::optional<std::uint64_t> n = count_elements(shape, size_of(type_));
  if (!n)
    fail("has a shape ({}) whose bytes exceed 64 bits: {}",
         printable(fmt::format("{}", fmt::join(shape, ", "))), rewrite);
  offset_ = static_cast<std::size_t>(text.data() + text.size() - file.data());
  const std::uint64_t expected = *n * size_of(type_);
  if (file.size() - offset_ < expected)
    fail("is truncated, {} bytes of data expected and {} found: copy the file again or {}",
         expected, file.size() - offset_, rewrite);
  n_ = *n;
} catch (const input_error& flaw) {
  throw input_error(fmt::format("'{}' {}", path.string(), flaw.what()));
}

}  // namespace tenfold
