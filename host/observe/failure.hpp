/// @file
/// What the executor has to say of a block that failed, as a finding.
#pragma once

#include <span>
#include <string>

#include "host/observe/finding.hpp"
#include "host/observe/step.hpp"

namespace tenfold::observe {

/// Fills in what happened, who had to do with it, and what to do.
/// @param address that the failure is about, in the kernel's words; empty where it is about none
/// @param last_code of each thread of the block in the program
/// @param f knows kernel and warp size
void describe(const simt::block_failure& failure, const std::string& address,
              std::span<const code_address> last_code, finding& f);

}  // namespace tenfold::observe
