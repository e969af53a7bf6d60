/// @file
/// The program's verbs. Each returns the exit code.
#pragma once

#include <functional>
#include <string>

#include "host/cli/options.hpp"
#include "host/error.hpp"

namespace tenfold::cli {

/// The stages: number, name, what each changes, its parameters.
exit_code list_stages();
/// The devices, GPUs first.
exit_code list_devices();
/// One stage, with everything there is to say about its run.
exit_code run_stage(const stage_info& stage, const options& o);
/// Every stage in order, a line each.
/// @param own a kernel of the reader's own that comes last; null: none
exit_code run_ladder(const options& o, const stage_info* own);
/// A kernel file for the reader to change, in the current folder.
/// @param from the stage that it is a copy of; empty: an example
exit_code write_new_kernel(const std::string& name, const std::string& from);
/// The stage and shape that are best for the request, with the reason; else as `run`.
exit_code run_best(const options& o);
/// What changed in the code from one stage to another.
exit_code diff_stages(const std::string& from, const std::string& to);
/// The machine code of one stage's kernel, or of two side by side.
/// @param find the stage of a name, a number or a kernel's file
exit_code show_machine_code(const isa_options& o,
                            const std::function<const stage_info&(const std::string& word)>& find);
/// Files of results side by side.
exit_code compare_results(const compare_options& o);

}  // namespace tenfold::cli
