// A libcuda.so.1 for LD_LIBRARY_PATH: as old as FAKE_DRIVER_VERSION says, such as 11040, and
// initialised with the result FAKE_DRIVER_INIT. NVIDIA's runtime asks it for no more than that
// before it gives up.
#include <cstdlib>

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

extern "C" int cuDriverGetVersion(int* version) {
  *version = number_in("FAKE_DRIVER_VERSION");
  return 0;
}

extern "C" int cuInit(unsigned) {
  return number_in("FAKE_DRIVER_INIT");
}
