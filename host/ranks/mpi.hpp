/// @file
/// Ranks by MPI: a process each, on one machine or several.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "host/error.hpp"
#include "host/ranks/ranks.hpp"

namespace tenfold {

/// The processes of a communicator of MPI, which outlives this. Between MPI_Init and MPI_Finalize.
class mpi_ranks final : public ranks {
 public:
  explicit mpi_ranks(MPI_Comm all = MPI_COMM_WORLD) : all_(all) {
    // What MPI cannot do is told as every other error is; by default it would end the process.
    check(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(all_, &rank_));
    check(MPI_Comm_size(all_, &count_));
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }

  using ranks::gather;
  void gather(const void* mine, std::size_t bytes, void* all) const override {
    // MPI counts in int.
    constexpr std::size_t most = std::size_t{1} << 30;
    if (bytes > most) throw input_error("a rank gathers 2^30 bytes at most");
    const int count = static_cast<int>(bytes);
    check(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, all_));
  }

  /// Which of the ranks on its machine this is, from 0 on.
  [[nodiscard]] int rank_on_host() const {
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host));
    int rank = 0;
    check(MPI_Comm_rank(host, &rank));
    check(MPI_Comm_free(&host));
    return rank;
  }

 private:
  static void check(int status) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw device_error("MPI: " + std::string(text, static_cast<std::size_t>(length)));
  }

  MPI_Comm all_;
  int rank_ = 0, count_ = 1;
};

}  // namespace tenfold
