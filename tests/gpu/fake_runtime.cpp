#include "tests/gpu/fake_runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string_view>

namespace tenfold::fake {
namespace {

struct state {
  std::string failing_function;
  int failing_call = 0;
  cudaError_t failure = cudaSuccess;
  cudaError_t last = cudaSuccess;
  bool is_broken = false;
  int calls = 0;
  int held = 0;
  int devices = 1;
  int driver_version = CUDART_VERSION;
};

/// `cudaMalloc=2`
state from_environment() {
  state s;
  const char* text = std::getenv("FAKE_CUDA_FAILURE");
  if (text == nullptr) return s;
  const char* equals = std::strchr(text, '=');
  if (equals == nullptr) std::abort();
  s.failing_function.assign(text, equals);
  s.failure = static_cast<cudaError_t>(std::atoi(equals + 1));
  return s;
}

state& now() {
  static state s = from_environment();
  return s;
}

/// As NVIDIA's runtime keeps what a kernel did: from then on every call fails.
bool breaks_the_context(cudaError_t code) {
  return code >= cudaErrorIllegalAddress && code <= cudaErrorLaunchFailure &&
         code != cudaErrorLaunchOutOfResources;
}

cudaError_t fail(cudaError_t code) {
  now().is_broken = breaks_the_context(code);
  return now().last = code;
}

cudaError_t call(std::string_view function) {
  state& s = now();
  ++s.calls;
  if (s.is_broken || s.calls == s.failing_call || function == s.failing_function)
    return fail(s.failure);
  return cudaSuccess;
}

cudaError_t give_back() {
  --now().held;
  return now().is_broken ? fail(now().failure) : cudaSuccess;
}

template <typename Handle>
cudaError_t hand_out(const char* function, Handle* handle) {
  const cudaError_t code = call(function);
  if (code != cudaSuccess) return code;
  ++now().held;
  *handle = reinterpret_cast<Handle>(&now());
  return cudaSuccess;
}

}  // namespace

void reset() {
  now() = state();
}
void fail_function(const std::string& name, cudaError_t code) {
  now().failing_function = name;
  now().failure = code;
}
void fail_call(int number, cudaError_t code) {
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

const char* cudaGetErrorString(cudaError_t code) {
  static const std::map<int, const char*> texts{
      {1, "invalid argument"},
      {2, "out of memory"},
      {34, "CUDA driver is a stub library"},
      {36, "API call is not supported in the installed CUDA driver"},
      {46, "CUDA-capable device(s) is/are busy or unavailable"},
      {98, "invalid device function"},
      {100, "no CUDA-capable device is detected"},
      {200, "device kernel image is invalid"},
      {209, "no kernel image is available for execution on the device"},
      {214, "uncorrectable ECC error encountered"},
      {216, "exclusive-thread device already in use by a different thread"},
      {218, "a PTX JIT compilation failed"},
      {221, "PTX JIT compiler library not found"},
      {222, "the provided PTX was compiled with an unsupported toolchain."},
      {304, "OS call failed or operation not supported on this OS"},
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

cudaError_t cudaGetLastError() {
  const cudaError_t last = now().last;
  if (!now().is_broken) now().last = cudaSuccess;
  return last;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = now().driver_version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = now().devices;
  return call("cudaGetDeviceCount");
}
cudaError_t cudaSetDevice(int) {
  return call("cudaSetDevice");
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return call("cudaGetDevice");
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? 12
           : attribute == cudaDevAttrComputeCapabilityMinor ? 1
                                                            : 1000;
  return call("cudaDeviceGetAttribute");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "fake GPU");
  properties->major = 12;
  properties->minor = 1;
  properties->warpSize = 32;
  properties->multiProcessorCount = 4;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->totalGlobalMem = std::size_t{2} << 30;
  return call("cudaGetDeviceProperties");
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int) {
  if (length > 0) *id = '\0';
  return call("cudaDeviceGetPCIBusId");
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = std::size_t{1} << 29;
  *total = std::size_t{2} << 30;
  return call("cudaMemGetInfo");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return hand_out("cudaStreamCreateWithFlags", stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return give_back();
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return call("cudaStreamSynchronize");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return call("cudaStreamBeginCapture");
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return hand_out("cudaStreamEndCapture", graph);
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return give_back();
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* graph, cudaGraph_t, unsigned long long) {
  return hand_out("cudaGraphInstantiateWithFlags", graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return give_back();
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return call("cudaGraphLaunch");
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return hand_out("cudaEventCreate", event);
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return give_back();
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return call("cudaEventRecord");
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return call("cudaEventSynchronize");
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return call("cudaEventElapsedTime");
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const cudaError_t code = hand_out("cudaMalloc", memory);
  if (code == cudaSuccess) *memory = ::operator new(bytes);
  return code;
}
cudaError_t cudaFree(void* memory) {
  ::operator delete(memory);
  return give_back();
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  const cudaError_t code = call("cudaMemcpyAsync");
  if (code == cudaSuccess) std::memcpy(to, from, bytes);
  return code;
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return call("cudaLaunchKernel");
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  return call("cudaLaunchKernelExC");
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  return call("cudaFuncGetAttributes");
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return call("cudaFuncSetAttribute");
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

}  // extern "C"
