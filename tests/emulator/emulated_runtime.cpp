// Makes the fake runtime of HIP run kernels: what a program launches goes, with its arguments, to a
// process that executes AMD's machine code. Loaded before that runtime and before AMD's:
//
//     LD_PRELOAD="emulated_hip.so fake_hip.so" EMULATED_GPU="gfx942 COMMAND" build/hip/tenfold run
//     10
//
// COMMAND starts the process. The two speak in lines:
//
//     memory FILE ADDRESS BYTES        where both see the device's memory
//     kernel FILE NAME                 asks for a kernel among a file's code objects
//     sizes BYTES...                   the answer: of its arguments
//     launch GRID BLOCK SHARED HEX...  runs it; the arguments' bytes
//     done                             the answer to the first and the last
//     error TEXT                       another answer to any
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

namespace {

// Where no process has anything else.
constexpr std::size_t memory_address = 0x6000'0000'0000, memory_bytes = std::size_t{64} << 20;

/// A test that went on would prove nothing.
[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

std::string hexadecimal(const void* bytes, std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text;
}

class emulator {
 public:
  emulator() {
    const char* const variable = std::getenv("EMULATED_GPU");
    if (variable == nullptr) give_up("EMULATED_GPU is not set");
    std::istringstream words(variable);
    words >> architecture_;
    std::string command;
    std::getline(words, command);

    const int file = memfd_create("device memory", 0);
    if (file < 0 || ftruncate(file, memory_bytes) != 0) give_up("the device's memory");
    void* const at = mmap(reinterpret_cast<void*>(memory_address), memory_bytes,
                          PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    if (at == MAP_FAILED) give_up("mapping the device's memory");
    start(command);
    std::ostringstream memory;
    memory << "memory /proc/" << getpid() << "/fd/" << file << ' ' << memory_address << ' '
           << memory_bytes;
    if (ask(memory.str()) != "done") give_up("the emulator does not see the device's memory");
  }

  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  [[nodiscard]] std::size_t free_bytes() const { return memory_bytes - used_; }

  /// Null where there is no room. What was given back is not used again.
  [[nodiscard]] void* allocate(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    const std::size_t room = (bytes + alignment - 1) / alignment * alignment;
    if (room > free_bytes()) return nullptr;
    void* const at = reinterpret_cast<void*>(memory_address + used_);
    used_ += room;
    return at;
  }

  /// @param file that holds the machine code
  /// @return what went wrong; empty if nothing
  [[nodiscard]] std::string launch(const std::string& file, const std::string& kernel, dim3 grid,
                                   dim3 block, void** arguments, std::size_t shared_bytes) {
    std::istringstream answer(ask("kernel " + file + " " + kernel));
    std::string word;
    answer >> word;
    if (word != "sizes") return answer.str();
    std::ostringstream line;
    line << "launch " << grid.x << ' ' << block.x << ' ' << shared_bytes;
    for (std::size_t bytes = 0; answer >> bytes;) line << ' ' << hexadecimal(*arguments++, bytes);
    const std::string end = ask(line.str());
    return end == "done" ? "" : end;
  }

 private:
  void start(const std::string& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("a socket");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO})
      posix_spawn_file_actions_adddup2(&actions, ends[1], standard);
    std::string shell = "sh", option = "-c", line = "exec" + command;
    char* const words[] = {shell.data(), option.data(), line.data(), nullptr};
    unsetenv("LD_PRELOAD");  // that one is no program for a GPU
    pid_t process = 0;
    if (posix_spawn(&process, "/bin/sh", &actions, nullptr, words, environ) != 0)
      give_up("starting the emulator");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
  }

  [[nodiscard]] std::string ask(const std::string& line) const {
    const std::string sent = line + "\n";
    for (std::size_t done = 0; done < sent.size();) {
      const ssize_t count = send(socket_, sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
      if (count <= 0) give_up("writing to the emulator");
      done += static_cast<std::size_t>(count);
    }
    std::string answer;
    for (char c = 0; c != '\n';) {
      if (read(socket_, &c, 1) != 1) give_up("the emulator has ended");
      if (c != '\n') answer += c;
    }
    return answer;
  }

  std::string architecture_;
  std::size_t used_ = 0;
  int socket_ = -1;
};

emulator& the_emulator() {
  static emulator started;
  return started;
}

std::map<const void*, std::string>& kernel_names() {
  static std::map<const void*, std::string> names;
  return names;
}

#define TENFOLD_TEXT(name) #name
#define TENFOLD_EXPANDED_TEXT(name) TENFOLD_TEXT(name)

}  // namespace

extern "C" {

// A header may give this function a version in its name.
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  using function = hipError_t (*)(hipDeviceProp_t*, int);
  static const auto next =
      reinterpret_cast<function>(dlsym(RTLD_NEXT, TENFOLD_EXPANDED_TEXT(hipGetDeviceProperties)));
  const hipError_t code = next(properties, device);
  const std::string& architecture = the_emulator().architecture();
  std::strncpy(properties->gcnArchName, architecture.c_str(), sizeof properties->gcnArchName - 1);
  properties->warpSize = architecture.starts_with("gfx9") ? 64 : 32;
  return code;
}

hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = the_emulator().free_bytes();
  *total = memory_bytes;
  return hipSuccess;
}

hipError_t hipMalloc(void** memory, std::size_t bytes) {
  *memory = the_emulator().allocate(bytes);
  return *memory != nullptr ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hipExtMallocWithFlags(void** memory, std::size_t bytes, unsigned) {
  return hipMalloc(memory, bytes);
}

hipError_t hipFree(void*) {
  return hipSuccess;
}

hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, hipStream_t) {
  Dl_info where{};
  const auto found = kernel_names().find(kernel);
  if (found == kernel_names().end() || dladdr(kernel, &where) == 0)
    return hipErrorInvalidDeviceFunction;
  if (grid.y * grid.z * block.y * block.z != 1) return hipErrorInvalidConfiguration;
  const std::string failure =
      the_emulator().launch(where.dli_fname, found->second, grid, block, arguments, shared_bytes);
  if (failure.empty()) return hipSuccess;
  std::fprintf(stderr, "%s: %s\n", found->second.c_str(), failure.c_str());
  return hipErrorLaunchFailure;
}

// What HIP's clang puts into a unit with kernels.
void __hipRegisterFunction(void**, const void* kernel, char*, const char* name, unsigned, uint3*,
                           uint3*, dim3*, dim3*, int*) {
  kernel_names()[kernel] = name;
}

}  // extern "C"
