// A reader's .npy file.
#include "host/data/npy.hpp"

#include "tests/fuzz/fuzz.hpp"

void tenfold::fuzz(std::string_view bytes) {
  const file_in_memory file(bytes);
  const npy_file read(file.path());
  volatile std::byte sum{};
  for (const std::byte each : read.data()) sum = sum ^ each;
}
