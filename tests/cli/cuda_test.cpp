// How the program with a CUDA backend fails. Where no device is there, the program is the real one,
// on a driver of our own or on none; where a call fails, NVIDIA's runtime is replaced. Only the
// tests of OnGpu need a GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

using variables = std::map<std::string, std::string>;

const std::string no_driver =
    "no NVIDIA driver is installed: install one, or pass the host's into this container";

// ---- no device ----------------------------------------------------------------------------------

class CudaAbsent : public Cli {
 protected:
  /// Every way to run the program where there is no device, for this reason.
  void expect_absence(const std::string& reason, const variables& environment) const {
    for (const std::string device : {"cuda", "cuda:0", "cuda:x"}) {
      const outcome o = tenfold({"run", "1", "--n", "100", "--device", device}, environment);
      expect_refusal(o, device_failed, {});
      EXPECT_EQ(o.err, "tenfold: there is no device '" + device + "': " + reason +
                           "; --device simt runs on the CPU\n");
    }
    const std::string notice =
        "tenfold: running on simt:32, since there is no cuda device: " + reason + "\n";
    const words run{"run", "1", "--n", "100", "--repeat", "1"};
    const outcome plain = tenfold(run, environment);
    EXPECT_EQ(plain.code, success) << plain.what();
    EXPECT_EQ(plain.err, notice);
    EXPECT_TRUE(contains(plain.out, "simt:32 (SIMT executor")) << plain.what();

    const outcome ladder =
        tenfold({"ladder", "--n", "100", "--repeat", "1", "--json", "-"}, environment);
    EXPECT_EQ(ladder.code, success) << ladder.what();
    EXPECT_EQ(ladder.err, notice);
    EXPECT_EQ(json::parse(ladder.out).at("context").at("device"), "simt:32");

    succeed(run + words{"--device", "simt"}, environment);
    expect_refusal(tenfold({"run", "1", "--n", "x"}, environment), bad_input, {"'x' is not"});

    const words devices = lines_of(succeed({"devices"}, environment).out);
    ASSERT_EQ(devices.size(), 3u);
    EXPECT_EQ(devices.back(), "cuda     no device: " + reason);
  }

  /// With a driver of our own.
  static variables driver(const std::string& version, const std::string& init = "0") {
    return {{"LD_LIBRARY_PATH", TENFOLD_FAKE_DRIVER_FOLDER},
            {"FAKE_DRIVER_VERSION", version},
            {"FAKE_DRIVER_INIT", init},
            {"CUDA_VISIBLE_DEVICES", ""}};
  }
};

TEST_F(CudaAbsent, WithoutADriver) {
  expect_absence(no_driver, driver("0"));
}

TEST_F(CudaAbsent, WithoutADriverOnThisMachine) {
  const std::string devices = succeed({"devices"}).out;
  if (!contains(devices, no_driver)) GTEST_SKIP() << "this machine has a driver";
  expect_absence(no_driver, {});
}

TEST_F(CudaAbsent, DriverTooOldForTheToolkit) {
  expect_absence(
      "the driver serves CUDA 11.4 at most, and this program needs CUDA " TENFOLD_CUDA_VERSION
      ": update the driver, or build with an older toolkit",
      driver("11040"));
}

TEST_F(CudaAbsent, NoDeviceIsVisible) {
  const std::string newest = "99990", no_device = "100";
  expect_absence("no CUDA-capable device is detected: see whether nvidia-smi -L finds one",
                 driver(newest, no_device));
  variables hidden = driver(newest, no_device);
  hidden["CUDA_VISIBLE_DEVICES"] = "99";
  expect_absence(
      "no CUDA-capable device is detected: CUDA_VISIBLE_DEVICES is '99': unset it, or name a "
      "device of nvidia-smi -L",
      hidden);
}

TEST_F(CudaAbsent, DriverThatIsAStub) {
  expect_absence(
      "CUDA driver is a stub library: take the toolkit's stubs folder off LD_LIBRARY_PATH",
      driver("99990", "34"));
}

// ---- calls that fail ----------------------------------------------------------------------------

class CudaFails : public Cli {
 protected:
  /// @param failure as in `Malloc=2`: the function, and the error that it returns
  outcome run(const std::string& failure, const words& arguments = {"run", "1"}) const {
    const words common{"--n", "5000", "--device", "cuda", "--repeat", "1"};
    return spawn(words{program()} + arguments + common,
                 {{"FAKE_GPU_FAILURE", failure}, {"CUDA_VISIBLE_DEVICES", ""}});
  }
  /// A copy, so that it finds no kernels for a GPU but those that are in it.
  std::string program() const {
    return copy_program(TENFOLD_FAKE_GPU_PROGRAM, "tests/fake_tenfold").string();
  }
  void expect_failure(const std::string& failure, const std::string& message) const {
    const outcome o = run(failure);
    expect_refusal(o, device_failed, {});
    EXPECT_EQ(o.err, "tenfold: " + message + "\n") << failure;
  }
};

TEST_F(CudaFails, NotWhereNoCallDoes) {
  const outcome o = run("", {"run", "1", "--mode", "back-to-back"});
  EXPECT_EQ(o.code, wrong_result) << "no kernel ran: " << o.what();
  EXPECT_EQ(o.err, "") << o.what();
  EXPECT_TRUE(contains(o.out, "cuda:0 (fake GPU)")) << o.what();
}

// All times of the stand-in are equal, and it runs no kernel.
TEST_F(CudaFails, WhereAWrongCallAddsNoTime) {
  const outcome o = run("");
  EXPECT_EQ(o.code, wrong_result) << o.what();
  EXPECT_TRUE(contains(o.out, "adds nothing to the kernel that writes its input")) << o.what();
  EXPECT_TRUE(contains(o.out, "WRONG")) << o.what();
}

TEST_F(CudaFails, OutOfMemory) {
  expect_failure("Malloc=2",
                 "allocating 20000 bytes on the device failed: out of memory: use a smaller n, or "
                 "end what else holds memory of the device");
}

TEST_F(CudaFails, ArchitectureThatIsNotCompiledIn) {
  expect_failure("LaunchKernel=209",
                 "launching the kernel failed: no kernel image is available for execution on the "
                 "device: its compute capability is 12.1, build with "
                 "-DCMAKE_CUDA_ARCHITECTURES=121");
}

TEST_F(CudaFails, KernelThatBrokeTheContext) {
  expect_failure("StreamSynchronize=700",
                 "waiting for the stream failed: an illegal memory access was encountered: a "
                 "kernel failed, and this process cannot use the device any more: start anew, and "
                 "find the kernel with compute-sanitizer");
  expect_failure("EventSynchronize=719",
                 "waiting for an event failed: unspecified launch failure: a kernel failed, and "
                 "this process cannot use the device any more: start anew, and find the kernel "
                 "with compute-sanitizer");
}

TEST_F(CudaFails, DeviceInExclusiveMode) {
  expect_failure("StreamCreateWithFlags=46",
                 "creating a stream failed: CUDA-capable device(s) is/are busy or unavailable: "
                 "another process may hold it in exclusive mode: wait for it, or have the mode "
                 "changed with nvidia-smi -c DEFAULT");
}

TEST_F(CudaFails, ALadderEndsInOneLine) {
  const outcome o = run("LaunchKernel=719", {"ladder"});
  EXPECT_EQ(o.code, device_failed) << o.what();
  EXPECT_EQ(lines_of(o.err).size(), 1u) << o.what();
  EXPECT_TRUE(contains(o.err, "tenfold: launching the kernel failed: ")) << o.what();
}

TEST_F(CudaFails, ALadderTellsWhatItHadBefore) {
  const outcome o = run("LaunchKernel=98", {"ladder"});
  EXPECT_EQ(o.code, device_failed) << o.what();
  EXPECT_TRUE(contains(o.out, "stage  name")) << o.what();
}

TEST_F(CudaFails, ALadderShowsTheSharesThatAreKnown) {
  // Of fewer elements there are no shares.
  const outcome o = spawn({program(), "ladder", "--mode", "back-to-back", "--n", "2^22", "--device",
                           "cuda", "--repeat", "1"},
                          {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_TRUE(contains(o.out, "of peak")) << o.what();
  EXPECT_TRUE(contains(o.out, "%\n")) << o.what();
  for (const char* part : {"of ceiling", "The read ceiling", "vs cub", "speed over the first"})
    EXPECT_FALSE(contains(o.out, part)) << part << o.what();
}

TEST_F(CudaFails, SaysThatPeersAreNotBuilt) {
  expect_refusal(run("", {"ladder", "--peers"}), bad_input,
                 {"the peers, which take minutes: not built in /", "'cmake --build "});
}

TEST_F(CudaFails, ALadderInJsonHoldsTheDevicesFacts) {
  const outcome o = run("", {"ladder", "--mode", "back-to-back", "--json", "-"});
  EXPECT_EQ(o.code, wrong_result) << "no kernel ran: " << o.what();
  const json context = json::parse(o.out).at("context");
  EXPECT_EQ(context.at("toolkit"), TENFOLD_CUDA_VERSION);
  EXPECT_TRUE(context.at("driver").get<std::string>().ends_with(
      "for toolkits up to " TENFOLD_CUDA_VERSION));
  EXPECT_FALSE(context.contains("read_ceiling_bytes_per_second")) << "nothing read anything";
}

TEST_F(CudaFails, FreeMemoryIsCheckedBeforeTheInputIsMade) {
  for (const words& n : {words{"--n", "2^27", "--type", "f64"}, words{"--n", "2^28"}}) {
    const outcome o = spawn(words{program(), "run", "1", "--device", "cuda"} + n);
    expect_refusal(o, device_failed, {"need 1 GiB, but cuda:0 has 512 MiB free: use a smaller n"});
    EXPECT_LT(o.peak_bytes, std::uint64_t{1} << 28) << "the input was made first";
  }
}

// ---- on a GPU -----------------------------------------------------------------------------------

class OnGpu : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (!contains(succeed({"devices"}).out, "cuda:0 ")) GTEST_SKIP() << "no GPU is here";
  }

  /// With CUDA_VISIBLE_DEVICES set, be it to nothing.
  outcome see_only(const std::string& devices, const words& arguments) const {
    return spawn(words{"/usr/bin/env", "CUDA_VISIBLE_DEVICES=" + devices, TENFOLD_PROGRAM} +
                 arguments);
  }
};

TEST_F(OnGpu, HiddenByTheEnvironment) {
  for (const std::string devices : {"", "99", "-1", "GPU-00000000-0000-0000-0000-000000000000"}) {
    const std::string reason = "CUDA_VISIBLE_DEVICES is '" + devices + "': unset it";
    const words run{"run", "1", "--n", "100", "--repeat", "1"};
    expect_refusal(see_only(devices, run + words{"--device", "cuda"}), device_failed,
                   {"there is no device 'cuda'", reason.c_str(), "--device simt runs on the CPU"});
    const outcome plain = see_only(devices, run);
    EXPECT_EQ(plain.code, success) << plain.what();
    EXPECT_EQ(lines_of(plain.err).size(), 1u) << plain.what();
    EXPECT_TRUE(contains(plain.err, reason)) << plain.what();
    EXPECT_TRUE(contains(plain.out, "simt:32 ")) << plain.what();
  }
}

TEST_F(OnGpu, OfANumberThatIsNotThere) {
  expect_refusal(tenfold({"run", "1", "--n", "100", "--device", "cuda:4096"}), bad_input,
                 {"there is no device 'cuda:4096'", "cuda:0", "simt:32"});
}

TEST_F(OnGpu, TooSmallForTheInput) {
  // The file is sparse: its zeros take no space until they are written.
  constexpr std::uint64_t n = std::uint64_t{1} << 37;
  write_npy<double>("large.npy", {}, "(" + std::to_string(n) + ",)");
  const fs::path file = in_directory("large.npy");
  std::error_code failure;
  fs::resize_file(file, fs::file_size(file) + n * sizeof(double), failure);
  if (failure) GTEST_SKIP() << "the file system has no sparse files of this size";
  const outcome o = tenfold({"run", "1", "--input", "large.npy", "--device", "cuda:0"});
  expect_refusal(o, device_failed,
                 {"2^37 elements of f64 need 1 TiB, but cuda:0 has ", " free", "use a smaller n"});
  EXPECT_LT(o.peak_bytes, std::uint64_t{1} << 32) << "the input was read first";
}

TEST_F(OnGpu, AndItsHostTooSmallForTheInput) {
  for (const char* n : {"2^42", "2^60", "18446744073709551615"}) {
    const outcome o = tenfold({"run", "1", "--n", n, "--device", "cuda:0"});
    expect_refusal(o, device_failed, {"elements of f32", "free: use a smaller n"});
    EXPECT_LT(o.peak_bytes, std::uint64_t{1} << 32) << "the input was made first";
  }
}

}  // namespace
}  // namespace tenfold::cli_test
