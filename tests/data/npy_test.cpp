#include "host/data/npy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/error.hpp"

namespace tenfold {
namespace {

static_assert(!std::is_copy_constructible_v<npy_file> && !std::is_copy_assignable_v<npy_file>);
static_assert(std::is_nothrow_move_constructible_v<npy_file>);

/// A directory of its own, gone with everything in it at the end.
class temporary_directory {
 public:
  temporary_directory() {
    std::string name = std::filesystem::temp_directory_path() / "tenfold-npy-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = name;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string little_endian(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
  return bytes;
}

std::string npy_bytes(std::string_view header, std::string_view data, int major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  bytes += little_endian(header.size(), major == 1 ? 2 : 4);
  bytes += header;
  bytes += data;
  return bytes;
}

std::string header_of(std::string_view descr, std::string_view extents,
                      std::string_view order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, order,
                     extents);
}

template <typename T>
std::string bytes_of(std::initializer_list<T> elements) {
  return {reinterpret_cast<const char*>(elements.begin()), elements.size() * sizeof(T)};
}

template <typename T>
std::vector<T> elements_of(const npy_file& file) {
  std::vector<T> elements(file.n());
  EXPECT_EQ(file.data().size(), elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), file.data().data(), file.data().size());
  return elements;
}

class NpyFile : public testing::Test {
 protected:
  std::filesystem::path write(std::string_view bytes) {
    const std::filesystem::path path = directory_.path() / "a.npy";
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.exceptions(std::ios::failbit | std::ios::badbit);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  npy_file load(std::string_view bytes) { return npy_file(write(bytes)); }

  /// Loads four zero elements of eight bytes at most under that header.
  npy_file load_header(std::string_view header) {
    return load(npy_bytes(header, std::string(32, '\0')));
  }

  void expect_error_at(const std::filesystem::path& path, std::string_view what) {
    try {
      const npy_file file(path);
      FAIL() << "accepted; expected: " << what;
    } catch (const input_error& e) {
      EXPECT_EQ(std::string(e.what()), fmt::format("'{}' {}", path.string(), what));
    }
  }

  void expect_error(std::string_view bytes, std::string_view what) {
    expect_error_at(write(bytes), what);
  }

  void expect_malformed(std::string_view header, std::string_view reason) {
    SCOPED_TRACE(header);
    expect_error(
        npy_bytes(header, ""),
        fmt::format("has a malformed header ({}): write it again with numpy.save", reason));
  }

  const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  temporary_directory directory_;
};

template <typename T>
struct NpyElement : NpyFile {};

using element_types = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
                                     float, double, std::int8_t, std::uint8_t>;
TYPED_TEST_SUITE(NpyElement, element_types);

TYPED_TEST(NpyElement, IsReadInEverySpelling) {
  const char kind = std::is_floating_point_v<TypeParam> ? 'f'
                    : std::is_signed_v<TypeParam>       ? 'i'
                                                        : 'u';
  constexpr element_type expected = element_type_of<TypeParam>;
  const auto elements = {TypeParam(1), TypeParam(2), static_cast<TypeParam>(-3)};
  for (const char* order : {"<", "=", "|", ""}) {
    const std::string descr = fmt::format("{}{}{}", order, kind, sizeof(TypeParam));
    const npy_file file = this->load(npy_bytes(header_of(descr, "(3,)"), bytes_of(elements)));
    EXPECT_EQ(file.type(), expected) << descr;
    EXPECT_EQ(file.n(), 3U);
    EXPECT_EQ(elements_of<TypeParam>(file), std::vector<TypeParam>(elements));
  }
}

TEST_F(NpyFile, HalfPrecision) {
  const auto elements = {float16(1), float16(-2.5f)};
  const npy_file file = load(npy_bytes(header_of("<f2", "(2,)"), bytes_of(elements)));
  EXPECT_EQ(file.type(), element_type::f16);
  ASSERT_EQ(file.n(), 2U);
  EXPECT_EQ(static_cast<float>(elements_of<float16>(file)[1]), -2.5f);
}

/// Of a single byte, the order is none.
TEST_F(NpyFile, BytesInEitherOrder) {
  EXPECT_EQ(load(npy_bytes(header_of(">u1", "(1,)"), "a")).type(), element_type::u8);
}

TEST_F(NpyFile, EveryFormatVersion) {
  for (const int major : {1, 2, 3}) {
    const npy_file file =
        load(npy_bytes(header_of("<i4", "(2,)"), bytes_of<std::int32_t>({7, -8}), major));
    EXPECT_EQ(elements_of<std::int32_t>(file), (std::vector<std::int32_t>{7, -8})) << major;
  }
}

TEST_F(NpyFile, LongHeaderOfVersion2) {
  const std::string header = header_of("<i4", "(1,)") + std::string(70000, ' ');
  const npy_file file = load(npy_bytes(header, bytes_of<std::int32_t>({42}), 2));
  EXPECT_EQ(elements_of<std::int32_t>(file), std::vector<std::int32_t>{42});
}

TEST_F(NpyFile, Shapes) {
  EXPECT_EQ(load_header(header_of("<f4", "()")).n(), 1U);
  EXPECT_EQ(load_header(header_of("<f4", "(2, 3)")).n(), 6U);
  EXPECT_EQ(load_header(header_of("<f4", "(2,1,3,)")).n(), 6U);
}

TEST_F(NpyFile, FortranOrder) {
  EXPECT_EQ(load_header(header_of("<f4", "(2, 3)", "True")).n(), 6U);
}

TEST_F(NpyFile, NoElements) {
  for (const char* extents : {"(0,)", "(3, 0, 2)", "(4294967296, 4294967296, 0)"}) {
    const npy_file file = load(npy_bytes(header_of("<f8", extents), ""));
    EXPECT_EQ(file.n(), 0U) << extents;
    EXPECT_TRUE(file.data().empty()) << extents;
  }
}

TEST_F(NpyFile, TrailingBytesAreIgnored) {
  const npy_file file = load(npy_bytes(header_of("<i4", "(1,)"), bytes_of<std::int32_t>({5, 6})));
  EXPECT_EQ(elements_of<std::int32_t>(file), std::vector<std::int32_t>{5});
}

TEST_F(NpyFile, MisalignedData) {
  for (const std::string pad : {"", " ", "  ", "   "}) {
    const npy_file file = load(npy_bytes(header_of("<f8", "(2,)") + pad, bytes_of({1.5, -2.5})));
    EXPECT_EQ(elements_of<double>(file), (std::vector<double>{1.5, -2.5}));
  }
}

TEST_F(NpyFile, HeadersOfOtherWriters) {
  for (const char* header : {
           "{'shape':(2,2),'fortran_order':False,'descr':'<i8'}",
           "{\"descr\": \"<i8\", \"fortran_order\": False, \"shape\": (2, 2)}",
           "  { 'descr' : '<i8' ,\t'fortran_order' : False ,\n 'shape' : ( 2 , 2 , ) , }  \n\n",
       }) {
    const npy_file file = load_header(header);
    EXPECT_EQ(file.type(), element_type::i64) << header;
    EXPECT_EQ(file.n(), 4U) << header;
  }
}

TEST_F(NpyFile, MovesAlongWithItsMapping) {
  npy_file first = load(npy_bytes(header_of("<i4", "(1,)"), bytes_of<std::int32_t>({5})));
  npy_file second = std::move(first);
  EXPECT_EQ(elements_of<std::int32_t>(second), std::vector<std::int32_t>{5});
  std::filesystem::remove(directory() / "a.npy");
  npy_file third = load(npy_bytes(header_of("<i4", "(2,)"), bytes_of<std::int32_t>({6, 7})));
  second = std::move(third);
  EXPECT_EQ(elements_of<std::int32_t>(second), (std::vector<std::int32_t>{6, 7}));
}

TEST_F(NpyFile, MissingFile) {
  expect_error_at(directory() / "none.npy",
                  "cannot be opened (No such file or directory): check the path and its "
                  "permissions");
}

TEST_F(NpyFile, Directory) {
  expect_error_at(directory(), "is a directory: name a .npy file in it");
}

TEST_F(NpyFile, PipeDoesNotBlock) {
  const std::filesystem::path path = directory() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error_at(path, "is not a regular file and cannot be mapped: save it to a file first");
}

TEST_F(NpyFile, NotNpy) {
  for (const char* bytes : {"", "\x93NUMP", "PK\x03\x04", "NUMPY\x01\x02", "1 2 3 4 5 6 7 8\n"}) {
    expect_error(bytes, "is not a .npy file: write one with numpy.save (not savez or savetxt)");
  }
}

TEST_F(NpyFile, UnknownVersion) {
  const std::string good = npy_bytes(header_of("<f4", "(1,)"), "1234");
  for (const auto& [major, minor] : {std::pair{0, 0}, {4, 0}, {1, 1}, {255, 254}}) {
    std::string bytes = good;
    bytes[6] = static_cast<char>(major);
    bytes[7] = static_cast<char>(minor);
    expect_error(
        bytes,
        fmt::format(
            "has .npy format {}.{}, known are 1.0, 2.0 and 3.0: write it again with numpy.save",
            major, minor));
  }
}

TEST_F(NpyFile, TruncatedHeader) {
  for (const auto& [major, prefix] : {std::pair<int, std::size_t>{1, 10}, {2, 12}}) {
    const std::string header = header_of("<f4", "(1,)");
    const std::string bytes = npy_bytes(header, "", major);
    for (std::size_t size = 6; size < bytes.size(); ++size) {
      const std::size_t expected = size < 8 ? 8 : size < prefix ? prefix : bytes.size();
      expect_error(bytes.substr(0, size),
                   fmt::format("ends inside its header, which takes {} bytes of which {} are "
                               "there: copy the file again or write it again with numpy.save",
                               expected, size));
    }
  }
}

TEST_F(NpyFile, MissingKeys) {
  expect_malformed("{}", "'descr' is missing");
  expect_malformed("{'descr': '<i4', 'shape': (1,)}", "'fortran_order' is missing");
  expect_malformed("{'descr': '<i4', 'fortran_order': False}", "'shape' is missing");
  expect_malformed("", "'descr' is missing");
  expect_malformed("{'descr'}", "'descr' is missing");
  expect_malformed("{'descr", "'descr' is missing");
}

TEST_F(NpyFile, EntriesOfTheWrongKind) {
  expect_malformed("{'descr': 4, 'fortran_order': False, 'shape': (1,)}", "'descr' is not a type");
  expect_malformed(header_of("<i4", "(1,)", "0"), "'fortran_order' is not True or False");
  expect_malformed(header_of("<i4", "[1]"), "'shape' is not a tuple");
  expect_malformed(header_of("<i4", "(1,"), "'shape' is not a tuple");
  expect_malformed(header_of("<i4", "(1 2)"), "'shape' is not a tuple of whole numbers");
  expect_malformed(header_of("<i4", "(-1,)"), "'shape' is not a tuple of whole numbers");
  expect_malformed(header_of("<i4", "('1',)"), "'shape' is not a tuple of whole numbers");
}

TEST_F(NpyFile, TruncatedData) {
  expect_error(npy_bytes(header_of("<f8", "(3, 2)"), std::string(47, 'x')),
               "is truncated, 48 bytes of data expected and 47 found: copy the file again or write "
               "it again with numpy.save");
  expect_error(npy_bytes(header_of("<i4", "()"), ""),
               "is truncated, 4 bytes of data expected and 0 found: copy the file again or write "
               "it again with numpy.save");
}

TEST_F(NpyFile, ShapeOverflow) {
  const std::string remedy = " whose bytes exceed 64 bits: write it again with numpy.save";
  expect_error(npy_bytes(header_of("<i4", "(4294967296, 4294967296)"), ""),
               "has a shape (4294967296, 4294967296)" + remedy);
  expect_error(npy_bytes(header_of("<f8", "(2305843009213693952,)"), ""),
               "has a shape (2305843009213693952)" + remedy);
  expect_error(npy_bytes(header_of("<i4", "(18446744073709551616,)"), ""),
               "has an extent of more than 64 bits in its shape: write it again with numpy.save");
}

TEST_F(NpyFile, BigEndian) {
  for (const std::string descr : {">i4", ">u4", ">i8", ">u8", ">f4", ">f8"}) {
    expect_error(
        npy_bytes(header_of(descr, "(1,)"), "12345678"),
        fmt::format("is big-endian ('{}'): convert it with a.astype(a.dtype.newbyteorder('<'))",
                    descr));
  }
}

std::string unsupported(std::string_view descr, std::string_view reason = "") {
  return fmt::format(
      "holds elements of type '{}', which is not supported{}: convert them with a.astype(t), where "
      "t is '<i4', '<u4', '<i8', '<u8', '<f4', '<f8', '|i1', '|u1' or '<f2'",
      descr, reason);
}

TEST_F(NpyFile, UnsupportedTypes) {
  for (const std::string descr : {"<i2", "<u2", "|b1", "<c8", "<c16", "<f16", "|O", "<U3", "|S5",
                                  "<M8[ns]", "|V4", "<", "", "<<i4", "<i4x"}) {
    expect_error(npy_bytes(header_of(descr, "(1,)"), "12345678"), unsupported(descr));
  }
}

/// What numpy.save makes of the bfloat16 that other packages add to NumPy.
TEST_F(NpyFile, Bfloat16IsNoTypeOfNumpys) {
  for (const char* descr : {"<V2", "|V2"})
    expect_error(npy_bytes(header_of(descr, "(1,)"), "12"),
                 unsupported(descr, " (NumPy has no bf16 and saves it so)"));
}

TEST_F(NpyFile, StructuredTypes) {
  for (const char* descr : {"[('x', '<i4'), ('y', '<f8', (2, 2))]", "('<i4', (2,))", "[]"}) {
    expect_error(
        npy_bytes(fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (1,)}}", descr),
                  "12345678"),
        "holds structured elements, which are not supported: select one field, a['name'], "
        "and convert it with a.astype(t), where t is '<i4', '<u4', '<i8', '<u8', '<f4', '<f8', "
        "'|i1', '|u1' or '<f2'");
  }
}

TEST_F(NpyFile, ATypeFromTheFileStaysOnOneShortLine) {
  expect_error(npy_bytes(header_of("a\nb" + std::string(50, 'c'), "(1,)"), ""),
               unsupported("a?b" + std::string(37, 'c') + "..."));
}

}  // namespace
}  // namespace tenfold
