/// @file
/// `best` for the rows or columns of a matrix.
#pragma once

#include <string>

#include "host/cli/options.hpp"
#include "host/error.hpp"

namespace tenfold::cli {

/// As typed; without rows it is no matrix.
struct matrix_request {
  std::string rows, columns, axis = "rows";
};

/// Says which kernel a call would take, and why; launches none.
/// @throws input_error
exit_code explain_matrix(const options& o, const matrix_request& asked);

}  // namespace tenfold::cli
