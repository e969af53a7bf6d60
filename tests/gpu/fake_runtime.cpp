#include "tests/gpu/fake_runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string_view>

namespace tenfold::fake {
namespace {

#if defined(__HIP_PLATFORM_AMD__)
constexpr int toolkit_version = HIP_VERSION;
constexpr const char* absence = "no ROCm-capable device is detected";
using properties_struct = hipDeviceProp_t;
using attribute = hipDeviceAttribute_t;

void name_architecture(properties_struct& properties) {
  std::strcpy(properties.gcnArchName, "gfx1103:xnack-");
}
int value_of(attribute) {
  return 1000;
}
#else
constexpr int toolkit_version = CUDART_VERSION;
constexpr const char* absence = "no CUDA-capable device is detected";
using properties_struct = cudaDeviceProp;
using attribute = cudaDeviceAttr;

void name_architecture(properties_struct& properties) {
  properties.major = 12;
  properties.minor = 1;
}
int value_of(attribute which) {
  return which == cudaDevAttrComputeCapabilityMajor   ? 12
         : which == cudaDevAttrComputeCapabilityMinor ? 1
                                                      : 1000;
}
#endif

struct state {
  std::string failing_function;
  int failing_call = 0;
  status failure = FAKED(Success);
  status last = FAKED(Success);
  bool is_broken = false;
  int calls = 0;
  int held = 0;
  int devices = 1;
  int driver_version = toolkit_version;
};

/// `Malloc=2`
state from_environment() {
  state s;
  const char* text = std::getenv("FAKE_GPU_FAILURE");
  if (text == nullptr) return s;
  const char* equals = std::strchr(text, '=');
  if (equals == nullptr) std::abort();
  s.failing_function.assign(text, equals);
  s.failure = static_cast<status>(std::atoi(equals + 1));
  return s;
}

state& now() {
  static state s = from_environment();
  return s;
}

/// As the runtimes keep what a kernel did: from then on every call fails.
bool breaks_the_context(status code) {
  return code >= FAKED(ErrorIllegalAddress) && code <= FAKED(ErrorLaunchFailure) &&
         code != FAKED(ErrorLaunchOutOfResources) && code != FAKED(ErrorPeerAccessAlreadyEnabled);
}

status fail(status code) {
  now().is_broken = breaks_the_context(code);
  return now().last = code;
}

status call(std::string_view function) {
  state& s = now();
  ++s.calls;
  if (s.is_broken || s.calls == s.failing_call || function == s.failing_function)
    return fail(s.failure);
  return FAKED(Success);
}

status give_back() {
  --now().held;
  return now().is_broken ? fail(now().failure) : FAKED(Success);
}

template <typename Handle>
status hand_out(const char* function, Handle* handle) {
  const status code = call(function);
  if (code != FAKED(Success)) return code;
  ++now().held;
  *handle = reinterpret_cast<Handle>(&now());
  return FAKED(Success);
}

}  // namespace

void reset() {
  now() = state();
}
void fail_function(const std::string& name, status code) {
  now().failing_function = name;
  now().failure = code;
}
void fail_call(int number, status code) {
  now().failing_call = number;
  now().failure = code;
}
int calls() {
  return now().calls;
}
int held() {
  return now().held;
}
void set_device_count(int count) {
  now().devices = count;
}
void set_driver_version(int version) {
  now().driver_version = version;
}

}  // namespace tenfold::fake

// ---- what tenfold calls -------------------------------------------------------------------------

using namespace tenfold::fake;

extern "C" {

const char* FAKED(GetErrorString)(status code) {
  static const std::map<int, const char*> texts{
      {1, "invalid argument"},
      {2, "out of memory"},
      {34, "CUDA driver is a stub library"},
      {36, "API call is not supported in the installed CUDA driver"},
      {46, "CUDA-capable device(s) is/are busy or unavailable"},
      {98, "invalid device function"},
      {100, absence},
      {200, "device kernel image is invalid"},
      {209, "no kernel image is available for execution on the device"},
      {214, "uncorrectable ECC error encountered"},
      {216, "exclusive-thread device already in use by a different thread"},
      {218, "a PTX JIT compilation failed"},
      {221, "PTX JIT compiler library not found"},
      {222, "the provided PTX was compiled with an unsupported toolchain."},
      {304, "OS call failed or operation not supported on this OS"},
      {400, "invalid resource handle"},
      {700, "an illegal memory access was encountered"},
      {701, "too many resources requested for launch"},
      {702, "the launch timed out and was terminated"},
      {710, "device-side assert triggered"},
      {714, "hardware stack error"},
      {715, "an illegal instruction was encountered"},
      {716, "misaligned address"},
      {717, "operation not supported on global/shared address space"},
      {718, "invalid program counter"},
      {719, "unspecified launch failure"},
      {802, "system not yet initialized"},
      {803, "system has unsupported display driver / cuda driver combination"},
      {804, "forward compatibility was attempted on non supported HW"}};
  const auto found = texts.find(code);
  return found == texts.end() ? "unrecognized error code" : found->second;
}

status FAKED(GetLastError)() {
  const status last = now().last;
  if (!now().is_broken) now().last = FAKED(Success);
  return last;
}

status FAKED(DriverGetVersion)(int* version) {
  *version = now().driver_version;
  return FAKED(Success);
}
status FAKED(RuntimeGetVersion)(int* version) {
  *version = toolkit_version;
  return FAKED(Success);
}

status FAKED(GetDeviceCount)(int* count) {
  *count = now().devices;
  return call("GetDeviceCount");
}
status FAKED(SetDevice)(int) {
  return call("SetDevice");
}
status FAKED(GetDevice)(int* device) {
  *device = 0;
  return call("GetDevice");
}
status FAKED(DeviceGetAttribute)(int* value, attribute which, int) {
  *value = value_of(which);
  return call("DeviceGetAttribute");
}
status FAKED(GetDeviceProperties)(properties_struct* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "fake GPU");
  name_architecture(*properties);
  properties->warpSize = 32;
  properties->multiProcessorCount = 4;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->totalGlobalMem = std::size_t{2} << 30;
  return call("GetDeviceProperties");
}
status FAKED(DeviceGetPCIBusId)(char* id, int length, int) {
  if (length > 0) *id = '\0';
  return call("DeviceGetPCIBusId");
}
status FAKED(MemGetInfo)(std::size_t* free, std::size_t* total) {
  *free = std::size_t{1} << 29;
  *total = std::size_t{2} << 30;
  return call("MemGetInfo");
}

status FAKED(StreamCreateWithFlags)(FAKED(Stream_t) * stream, unsigned) {
  return hand_out("StreamCreateWithFlags", stream);
}
status FAKED(StreamDestroy)(FAKED(Stream_t)) {
  return give_back();
}
status FAKED(StreamSynchronize)(FAKED(Stream_t)) {
  return call("StreamSynchronize");
}

status FAKED(StreamBeginCapture)(FAKED(Stream_t), FAKED(StreamCaptureMode)) {
  return call("StreamBeginCapture");
}
status FAKED(StreamIsCapturing)(FAKED(Stream_t), FAKED(StreamCaptureStatus) * capture) {
  *capture = FAKED(StreamCaptureStatusNone);
  return call("StreamIsCapturing");
}
status FAKED(StreamEndCapture)(FAKED(Stream_t), FAKED(Graph_t) * graph) {
  return hand_out("StreamEndCapture", graph);
}
status FAKED(GraphDestroy)(FAKED(Graph_t)) {
  return give_back();
}
status FAKED(GraphInstantiateWithFlags)(FAKED(GraphExec_t) * graph, FAKED(Graph_t),
                                        unsigned long long) {
  return hand_out("GraphInstantiateWithFlags", graph);
}
status FAKED(GraphExecDestroy)(FAKED(GraphExec_t)) {
  return give_back();
}
status FAKED(GraphLaunch)(FAKED(GraphExec_t), FAKED(Stream_t)) {
  return call("GraphLaunch");
}

// Of two devices that are connected; any other is far away.
status FAKED(DeviceCanAccessPeer)(int* can, int, int peer) {
  *can = peer < 2;
  return call("DeviceCanAccessPeer");
}
status FAKED(DeviceEnablePeerAccess)(int, unsigned) {
  return call("DeviceEnablePeerAccess");
}

status FAKED(EventCreate)(FAKED(Event_t) * event) {
  return hand_out("EventCreate", event);
}
status FAKED(EventDestroy)(FAKED(Event_t)) {
  return give_back();
}
status FAKED(EventRecord)(FAKED(Event_t), FAKED(Stream_t)) {
  return call("EventRecord");
}
status FAKED(EventSynchronize)(FAKED(Event_t)) {
  return call("EventSynchronize");
}
status FAKED(EventElapsedTime)(float* milliseconds, FAKED(Event_t), FAKED(Event_t)) {
  *milliseconds = 1;
  return call("EventElapsedTime");
}

status FAKED(Malloc)(void** memory, std::size_t bytes) {
  const status code = hand_out("Malloc", memory);
  if (code == FAKED(Success)) *memory = ::operator new(bytes);
  return code;
}
status FAKED(Free)(void* memory) {
  ::operator delete(memory);
  return give_back();
}
status FAKED(MemcpyAsync)(void* to, const void* from, std::size_t bytes, FAKED(MemcpyKind),
                          FAKED(Stream_t)) {
  const status code = call("MemcpyAsync");
  if (code == FAKED(Success)) std::memcpy(to, from, bytes);
  return code;
}
status FAKED(LaunchKernel)(const void*, dim3, dim3, void**, std::size_t, FAKED(Stream_t)) {
  return call("LaunchKernel");
}

#if defined(__HIP_PLATFORM_AMD__)

hipError_t hipExtMallocWithFlags(void** memory, std::size_t bytes, unsigned) {
  return hipMalloc(memory, bytes);
}

// ---- what HIP's clang puts into a unit with kernels ---------------------------------------------

void** __hipRegisterFatBinary(const void*) {
  return nullptr;
}
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, uint3*, uint3*, dim3*,
                           dim3*, int*) {}

#else

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  return call("LaunchKernelExC");
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  return call("FuncGetAttributes");
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return call("FuncSetAttribute");
}

// ---- what nvcc puts into a unit with kernels ----------------------------------------------------

void** __cudaRegisterFatBinary(void*) {
  return nullptr;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {}
char __cudaInitModule(void**) {
  return 0;
}

// For kernels that are launched by <<<>>>, as none is here.
cudaError_t __cudaGetKernel() {
  return cudaErrorNotSupported;
}
cudaError_t __cudaLaunchKernel() {
  return cudaErrorNotSupported;
}
cudaError_t __cudaPopCallConfiguration() {
  return cudaErrorNotSupported;
}

#endif

}  // extern "C"
