"""The faults that tests/plant plants, each with the test that must catch it.

`old`, which the file holds once, becomes `new`. `targets` are what the build makes anew for the test to see
the fault, the program of the test among them. A header that all kernels include is chosen with a test whose
program includes it itself, and builds no more than that.
"""


def right(test):
    return f"Stages/EveryCombination.IsRightForEverySizeAndShape/simt_{test}"


def clean(test):
    return f"Stages/Clean.OnEveryInputInEveryOrder/{test}"


FAULTS = [
    # ---- kernels --------------------------------------------------------------------------------
    {
        "name": "idle-lane",
        "what": "in each step of stage 3's tree, the last lane folds nothing",
        "file": "kernels/03_no_bank_conflicts.hpp",
        "old": "if (tid < stride) shared",
        "new": "if (tid + 1 < stride) shared",
        "targets": ["stage_tests", "tenfold_simt_03_no_bank_conflicts_of_f32_sum"],
        "test": right("no_bank_conflicts_f32_sum"),
    },
    {
        "name": "ragged-end",
        "what": "stage 10 leaves out what does not fill a tile",
        "file": "kernels/10_two_pass.hpp",
        "old": "for (; begin < n; begin += stride)",
        "new": "for (; begin + Tile <= n; begin += stride)",
        "targets": ["stage_tests", "tenfold_simt_10_two_pass_of_f32_sum"],
        "test": right("two_pass_f32_sum"),
    },
    {
        "name": "no-barrier",
        "what": "stage 1 has no barrier after the load",
        "file": "kernels/01_naive.hpp",
        "old": "  shared[tid] = element(gid);\n  __syncthreads();\n",
        "new": "  shared[tid] = element(gid);\n",
        "targets": ["observed_stage_tests", "tenfold_observed_01_naive_of_f32_sum"],
        "test": clean("naive_32"),
    },
    {
        "name": "no-fence",
        "what": "stage 11 has no fence before the ticket, which no result on the executor shows",
        "file": "kernels/beyond/11_single_pass.hpp",
        "old": "    partials[blockIdx.x] = result;\n    __threadfence();\n",
        "new": "    partials[blockIdx.x] = result;\n",
        "targets": ["observed_stage_tests", "tenfold_observed_11_single_pass_of_f32_sum"],
        "test": clean("single_pass_32"),
    },
    {
        "name": "windows-too-fine",
        "what": "stage 18 adds elements to its windows that are finer than their units",
        "file": "kernels/beyond/18_exact.hpp",
        "old": " && e.smallest >= begin_;",
        "new": ";",
        "targets": ["simt_exact_tests"],
        "test": "ExactStage.LosesNothingWhereItsWindowsAreFull<float>",
    },
    {
        "name": "no-fence-between-gpus",
        "what": "a GPU raises its flag before what it brings can be seen",
        "file": "kernels/ranks/peer_partials.hpp",
        "old": "partial);\n      __threadfence_system();\n",
        "new": "partial);\n",
        "targets": ["simt_peers_tests"],
        "test": "Peers.HaveTheResultOfAllInEveryCall",
    },
    {
        "name": "flag-of-any-call",
        "what": "GPUs raise the same flag in every call, and nobody resets it",
        "file": "kernels/ranks/peer_partials.hpp",
        "old": "call = here->calls + 1,",
        "new": "call = 1,",
        "targets": ["simt_peers_tests"],
        "test": "Peers.HaveTheResultOfAllInEveryCall",
    },
    # ---- host/ ----------------------------------------------------------------------------------
    {
        "name": "blocks-rounded-down",
        "what": "a pass has no block for a last tile that is not full",
        "file": "host/reduce/plan.hpp",
        "old": "n == 0 ? 1 : ceil_div(n, tile(parameters));",
        "new": "n < tile(parameters) ? 1 : n / tile(parameters);",
        "targets": ["host_tests"],
        "test": "Plan.OneElementMoreThanABlockTakesASecondBlockAndPass",
    },
    {
        "name": "second-pass-reads-input",
        "what": "later passes read the input again in place of the partials",
        "file": "host/reduce/pass_runner.hpp",
        "old": "      in = target;\n",
        "new": "",
        "targets": ["reducers"],
        "test": "reducers",
    },
    {
        "name": "ki-is-a-thousand",
        "what": "--n 64Ki is 64000",
        "file": "host/text/quantity.cpp",
        "old": '{"Ki", 1ULL << 10}',
        "new": '{"Ki", 1\'000ULL}',
        "targets": ["host_tests"],
        "test": "ParseCount.Suffixes",
    },
    {
        "name": "min-is-max",
        "what": "--op min takes the maximum, and the other way round",
        "file": "host/backends/names.cpp",
        "old": '{"min", "minimum"}, {"max", "maximum"}',
        "new": '{"min", "maximum"}, {"max", "minimum"}',
        "targets": ["cli_tests"],
        "test": "Cli.ShortFormsOfOperators",
    },
    {
        "name": "wrong-is-success",
        "what": "a wrong result ends with exit code 0",
        "file": "host/cli/measuring/run_command.cpp",
        "old": "return wrong ? exit_code::wrong_result : exit_code::success;",
        "new": "static_cast<void>(wrong);\n  return exit_code::success;",
        "targets": ["own_kernel_tests"],
        "test": "OwnKernel.IsWrongWhereATrialIs",
    },
    # ---- the verdict ----------------------------------------------------------------------------
    {
        "name": "judge-always-right",
        "what": "every result is right",
        "file": "host/data/reference.cpp",
        "old": "return std::visit([&]<typename T>(T x) { return judge_as<T>(r, x, depth); }, result);",
        "new": "static_cast<void>(depth);\n  return verdict::right;",
        "targets": ["reducer_tests"],
        "test": "PlantedInMinimum.ShowsWhereTheSmallestElementIsLost",
    },
    {
        "name": "wide-bound",
        "what": "rounding is taken to explain a thousand times as much as it does",
        "file": "host/data/reference.cpp",
        "old": "growth = roundings * unit_roundoff;",
        "new": "growth = 1000 * roundings * unit_roundoff;",
        "targets": ["host_tests"],
        "test": "Judge.AllowsRoundingAndNoMore",
    },
    {
        "name": "nan-equals-all",
        "what": "NaN equals any number",
        "file": "host/data/reference.cpp",
        "old": "return std::isnan(a) && std::isnan(b);",
        "new": "return true;",
        "targets": ["host_tests"],
        "test": "Judge.KnowsNanAndInfinity",
    },
    # ---- the checker ----------------------------------------------------------------------------
    {
        "name": "write-after-read",
        "what": "a write that races with an earlier read is not reported",
        "file": "host/observe/checker.cpp",
        "old": "return conflicts ? find_unordered(by, cell) : std::nullopt;",
        "new": "static_cast<void>(conflicts);\n  return std::nullopt;",
        "targets": ["checker_tests"],
        "test": "Checker.FindsABlockThatWritesWhatAnotherReads",
    },
    {
        "name": "forgotten-reader",
        "what": "of all that read an element the checker keeps the last alone",
        "file": "host/observe/shadow.hpp",
        "old": "    if (!is_needless(newest_)) older_.push_back(newest_);\n",
        "new": "",
        "targets": ["checker_tests"],
        "test": "Checker.ReadersOfOneWarpAreNotForgottenForThoseOfAnother",
    },
    {
        "name": "broadcast-is-conflict",
        "what": "lanes that want the same word count as a bank conflict",
        "file": "host/observe/profile.cpp",
        "old": "        continue;  // served in the same turn",
        "new": "        most = std::max(most, known_count);  // served in the same turn",
        "targets": ["profile_tests"],
        "test": "Warps/Profile.OneWordForAllIsNoConflict/32",
    },
    # ---- scripts --------------------------------------------------------------------------------
    {
        "name": "stale-page-passes",
        "what": "docs/weave --check succeeds on a page that says something else",
        "file": "docs/weave",
        "old": "sys.exit(1 if mistakes or (options.check and stale) else 0)",
        "new": "sys.exit(1 if mistakes else 0)",
        "targets": [],
        "test": "weaving",
    },
    {
        "name": "blunt-tuning",
        "what": "bench/tune takes a shape for as good as the best that is 3% slower",
        "file": "bench/tune",
        "old": "max(spread, TOLERANCE)",
        "new": "max(spread, 10 * TOLERANCE)",
        "targets": [],
        "test": "tune_logic",
    },
    {
        "name": "one-launch-more",
        "what": "docs/blocks/paper.py has rocPRIM launch twice where once is enough",
        "file": "docs/blocks/paper.py",
        "old": "while n > blocks_of_one_launch * tile:",
        "new": "while n >= blocks_of_one_launch * tile:",
        "targets": [],
        "test": "on_paper_logic",
    },
    {
        "name": "failed-build-is-success",
        "what": "./tenfold ends with exit code 0 where the build failed",
        "file": "tenfold",
        "old": 'fail "$status" "the build failed" "$log"',
        "new": 'fail 0 "the build failed" "$log"',
        "targets": ["tenfold"],
        "test": "wrapper",
    },
]
