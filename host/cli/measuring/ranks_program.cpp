/// @file
/// `run` and `ladder` with `--distributed`, which mpirun starts once for each rank.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/measuring/ladder.hpp"
#include "host/cli/measuring/shared_run.hpp"
#include "host/ranks/mpi.hpp"
#include "host/ranks/together.hpp"

namespace tenfold::cli {
namespace {

/// Rank 0 speaks for all: what the others would write is lost, as long as this lives.
class silence {
 public:
  silence() {
    std::fflush(nullptr);
    const int nowhere = open("/dev/null", O_WRONLY);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      kept_[stream - STDOUT_FILENO] = dup(stream);
      dup2(nowhere, stream);
    }
    close(nowhere);
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;
  ~silence() {
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      dup2(kept_[stream - STDOUT_FILENO], stream);
      close(kept_[stream - STDOUT_FILENO]);
    }
  }

 private:
  int kept_[2];
};

/// That of a GPU for each rank on a machine; on the executor all are the same.
std::string device_of(const options& o, const mpi_ranks& all) {
  const int here = all.rank_on_host();
  if (o.device.find(':') != std::string::npos) return o.device;
  const device_choice first = choose_device(o.device);
  if (first.is_executor()) return first.name();
  const std::vector<int> numbers = first.backend->devices();
  if (static_cast<std::size_t>(here) >= numbers.size())
    throw input_error(
        fmt::format("there are {} GPUs for more ranks than that on a machine: start {} ranks on "
                    "each, or name a device that they share, such as --device {}",
                    numbers.size(), numbers.size(), first.name()));
  return device_choice{first.backend, numbers[static_cast<std::size_t>(here)]}.name();
}

/// A launcher of another MPI starts processes that do not know of each other.
void check_that_all_are_there(const mpi_ranks& all) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const started = std::getenv(variable))
      if (std::atoi(started) != all.count())
        throw input_error(
            fmt::format("{} processes were started, and MPI knows of {}: start them by the mpirun "
                        "of the MPI that this was built with",
                        started, all.count()));
}

/// Of an error that one rank alone knows of, the others would not hear: it ends them all.
exit_code run_to_the_end(const mpi_ranks& all, const action& work, std::optional<silence>& others) {
  try {
    check_that_all_are_there(all);
    return work();
  } catch (const shared_error& e) {
    if (all.rank() == 0) throw;
    return e.code();
  } catch (const std::exception& e) {
    if (all.count() == 1) throw;
    others.reset();
    fmt::print(stderr, "tenfold: rank {} of {}: {}\n", all.rank(), all.count(), e.what());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit_code::device_failed));
    throw;
  }
}

/// @return what the process returns
int run_rank(int argc, char** argv) {
  const mpi_ranks all;
  std::optional<silence> others;
  if (all.rank() != 0) others.emplace();
  // A launcher gives each rank a terminal, whatever its own output leads to.
  if (all.count() != 1) setenv("NO_COLOR", "1", 0);
  bool has_begun = false;
  run_request r;
  options climbed;
  const char* description = "Runs stages among the ranks of MPI.";
  const int code = run_verbs(description, argc, argv, [&](CLI::App& app, action& chosen) {
    const auto choose = [&](CLI::App* verb, const action& work) {
      verb->callback([&, work] {
        chosen = [&, work] {
          has_begun = true;
          return run_to_the_end(all, work, others);
        };
      });
    };
    choose(declare_run(app, r),
           [&] { return run_among(all, r, [&] { return device_of(r.o, all); }); });
    choose(declare_ladder(app, climbed),
           [&] { return climb_among(all, climbed, [&] { return device_of(climbed, all); }); });
  });
  if (has_begun) return code;
  // Others may have been asked for something that makes sense, and wait for this one.
  try {
    share_outcome(all, {exit_code::bad_input, "nothing that can be run was asked for"});
  } catch (const shared_error&) {
  }
  return code;
}

}  // namespace
}  // namespace tenfold::cli

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = tenfold::cli::run_rank(argc, argv);
  MPI_Finalize();
  return code;
}
