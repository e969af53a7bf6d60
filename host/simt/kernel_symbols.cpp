#include "host/simt/kernel_symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "host/text/split.hpp"

/// Of the loader, which every access to a library's thread-local variable goes through.
struct tls_index {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(tls_index* where);

namespace tenfold::simt {
namespace {

// The tags that common/gpu/words.hpp puts on `__shared__` and `__global__`, as they are mangled.
constexpr std::string_view shared_tag = "B10gpu_shared";
constexpr std::string_view kernel_tag = "B10gpu_kernel";

struct symbol {
  std::string_view name;
  std::size_t storage;   // of the object that has it, as the loader numbers thread-local storage
  std::uintptr_t value;  // an address, or an offset into thread-local storage
  std::size_t size;
};

/// What an object's file says of itself, as it lies in memory.
class elf_image {
 public:
  using header = ElfW(Ehdr);
  using section = ElfW(Shdr);
  using entry = ElfW(Sym);

  explicit elf_image(const char* begin)
      : begin_(begin),
        header_(*reinterpret_cast<const header*>(begin)),
        sections_(reinterpret_cast<const section*>(begin + header_.e_shoff), header_.e_shnum) {}

  /// The table of all symbols, else of those that the loader needs; null where neither is there.
  [[nodiscard]] const section* find_table() const {
    const section* found = nullptr;
    for (const section& each : sections_)
      if (each.sh_type == SHT_SYMTAB || (each.sh_type == SHT_DYNSYM && found == nullptr))
        found = &each;
    return found;
  }
  [[nodiscard]] std::span<const entry> symbols_of(const section& table) const {
    return {reinterpret_cast<const entry*>(begin_ + table.sh_offset),
            table.sh_size / sizeof(entry)};
  }
  [[nodiscard]] const char* names_of(const section& table) const {
    return begin_ + sections_[table.sh_link].sh_offset;
  }

  /// What the loader alone changes, such as tables of virtual functions, is in .data.rel.ro.
  [[nodiscard]] bool holds_variables(unsigned number) const {
    if (number >= sections_.size()) return false;
    const std::string_view name =
        begin_ + sections_[header_.e_shstrndx].sh_offset + sections_[number].sh_name;
    return name == ".data" || name == ".bss";
  }

 private:
  const char* begin_;
  const header& header_;
  std::span<const section> sections_;
};

/// The kernels and shared variables of every loaded object that has any, and the variables of those
/// that have kernels.
struct symbol_table {
  std::vector<symbol> kernels, shared, variables;
  /// What was read: where it was loaded, and its name. Nothing that holds kernels is ever unloaded.
  std::set<std::pair<std::uintptr_t, std::string>> objects;

  symbol_table() { update(); }

  /// Reads what was loaded since.
  void update() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* table) {
          static_cast<symbol_table*>(table)->add(*info);
          return 0;
        },
        this);
  }

 private:
  void add(const dl_phdr_info& info) {
    if (!objects.emplace(info.dlpi_addr, info.dlpi_name).second) return;
    const char* path = info.dlpi_name[0] == '\0' ? "/proc/self/exe" : info.dlpi_name;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;  // the kernel's own virtual object has no file
    struct stat status {};
    void* image = MAP_FAILED;
    if (fstat(file, &status) == 0 &&
        static_cast<std::size_t>(status.st_size) > sizeof(elf_image::header))
      image =
          mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    // The names stay in use, so the image stays mapped as long as the process runs.
    if (image != MAP_FAILED && !read(elf_image(static_cast<const char*>(image)), info))
      munmap(image, static_cast<std::size_t>(status.st_size));
  }

  /// @return whether it has any
  bool read(const elf_image& image, const dl_phdr_info& info) {
    const std::uintptr_t base = info.dlpi_addr;
    const std::size_t storage = info.dlpi_tls_modid;
    const elf_image::section* const table = image.find_table();
    if (table == nullptr) return false;
    std::vector<symbol> changing;
    const std::size_t kernels_before = kernels.size();
    bool found = false;
    for (const elf_image::entry& entry : image.symbols_of(*table)) {
      const std::string_view name = image.names_of(*table) + entry.st_name;
      const auto type = ELF64_ST_TYPE(entry.st_info);
      if (type == STT_FUNC && name.find(kernel_tag) != name.npos && name.starts_with("_Z"))
        kernels.push_back({name, storage, base + entry.st_value, entry.st_size});
      else if (type == STT_TLS && name.find(shared_tag) != name.npos)
        shared.push_back({name, storage, entry.st_value, entry.st_size});
      else if (type == STT_OBJECT && entry.st_size != 0 && image.holds_variables(entry.st_shndx))
        changing.push_back({name, storage, base + entry.st_value, entry.st_size});
      else
        continue;
      found = true;
    }
    // To kernels, variables of what has none of them do not exist.
    if (kernels.size() != kernels_before)
      variables.insert(variables.end(), changing.begin(), changing.end());
    return found;
  }
};

std::string demangle(std::string_view name) {
  return boost::core::demangle(std::string(name).c_str());
}

symbol_table& symbols() {
  static symbol_table table;
  return table;
}

/// `kernel<int>(int*)::shared[abi:gpu_shared]` is `shared`, `counts<a::b>` is `counts`.
std::string readable_variable_name(std::string demangled) {
  if (demangled.ends_with('>')) demangled.erase(begin_of_last_pair(demangled, '<', '>'));
  const std::size_t end = demangled.rfind('['), colons = demangled.rfind("::", end);
  const std::size_t begin = colons == demangled.npos ? 0 : colons + 2;
  return demangled.substr(begin, end - begin);
}

kernel_symbols read_symbols(const void* kernel) {
  symbol_table& table = symbols();
  const auto address = reinterpret_cast<std::uintptr_t>(kernel);
  table.update();
  const auto function = std::ranges::find(table.kernels, address, &symbol::value);
  if (function == table.kernels.end()) return {fmt::format("at {:#x}", address), {}};

  kernel_symbols result;
  result.name = readable_kernel_name(demangle(function->name));
  result.begin = function->value;
  result.bytes = function->size;

  // A local variable's mangled name contains its function's, without the leading underscore.
  const std::string enclosing = std::string(function->name.substr(1)) + 'E';
  std::set<std::string_view> counted;  // a template may stand in several loaded objects
  for (const symbol& variable : table.shared) {
    const bool own = variable.name.find(enclosing) != variable.name.npos;
    const bool of_a_device_function = variable.name.find(kernel_tag) == variable.name.npos;
    if (!own && !of_a_device_function) continue;
    result.shared.push_back({readable_variable_name(demangle(variable.name)), variable.storage,
                             variable.value, variable.size});
    if (own && counted.insert(variable.name).second) result.static_shared_bytes += variable.size;
  }
  return result;
}

}  // namespace

std::string readable_kernel_name(std::string demangled) {
  // The parameter list is the last balanced pair of parentheses.
  if (demangled.ends_with(')')) demangled.erase(begin_of_last_pair(demangled, '(', ')'));
  if (demangled.starts_with("void ")) demangled.erase(0, 5);
  for (const char* part : {"[abi:gpu_kernel]", "tenfold::", "on_simt::", "on_observed_simt::"})
    demangled = replace_all(std::move(demangled), part, "");
  for (std::size_t at; (at = demangled.find("> >")) != demangled.npos;) demangled.erase(at + 1, 1);
  return demangled;
}

const kernel_symbols& describe_kernel(const void* kernel) {
  static std::mutex mutex;
  static std::map<const void*, kernel_symbols> known;
  const std::scoped_lock lock(mutex);
  auto found = known.find(kernel);
  if (found == known.end()) found = known.emplace(kernel, read_symbols(kernel)).first;
  return found->second;
}

std::vector<program_variable> program_variables() {
  std::vector<program_variable> found;
  for (const symbol& s : symbols().variables)
    found.push_back({readable_variable_name(demangle(s.name)), s.value, s.size});
  std::ranges::sort(found, {}, &program_variable::address);
  return found;
}

std::size_t loaded_objects() {
  return symbols().objects.size();
}

std::vector<shared_area> locate_shared(const kernel_symbols& kernel) {
  std::vector<shared_area> located;
  for (const shared_variable& variable : kernel.shared) {
    // The loader's own function: a thread's storage for a library comes to be when it is asked for.
    tls_index where{variable.module, variable.offset};
    located.push_back(
        {variable.name, {static_cast<std::byte*>(__tls_get_addr(&where)), variable.size}});
  }
  return located;
}

}  // namespace tenfold::simt
