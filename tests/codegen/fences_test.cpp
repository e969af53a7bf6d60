// What compilers make of the fences of stages 11 to 13, whose last block folds what the others
// wrote. On a GPU, a fence that is missing shows once in a while. docs/amd.md says why these
// instructions are enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"
#include "tests/codegen/instances.hpp"
#include "tests/codegen/reading.hpp"

namespace tenfold::codegen {
namespace {

/// An instruction, by what its text contains: other operands may stand between.
using instruction = std::vector<std::string_view>;

/// What has to stand between the partial's store and the ticket, between the ticket and the barrier
/// by which its block waits for it, and from there to the first load of a partial; each in order.
/// The ticket itself has to say that it is for all blocks where an instruction can be for fewer.
struct fences {
  std::vector<instruction> before_ticket, after_ticket, after_barrier;
  instruction ticket{};
};

/// For fences of the whole device, after LLVM's tables of AMD's memory model. What a table asks for
/// and a compiler may leave out, because no such access is on its way, is not here.
fences needed_on(const isa::architecture& a) {
  const auto is_of = [&](std::string_view generation) { return a.name.starts_with(generation); };
  const instruction all_loaded{"s_waitcnt ", "vmcnt(0)"};
  if (a.vendor == isa::vendor::nvidia) return {{{"membar.gl"}}, {}, {{"membar.gl"}}};
  if (is_of("gfx94") || is_of("gfx95"))
    return {{{"buffer_wbl2", "sc1"}, all_loaded}, {all_loaded}, {{"buffer_inv", "sc1"}}};
  if (is_of("gfx9")) return {{all_loaded}, {all_loaded}, {{"buffer_wbinvl1_vol"}}};
  if (is_of("gfx12"))
    return {{{"s_wait_storecnt", " 0x0"}},
            {{"s_wait_loadcnt", " 0x0"}},
            {{"global_inv", "scope:SCOPE_DEV"}},
            {"scope:SCOPE_DEV"}};
  return {{{"s_waitcnt_vscnt", " 0x0"}}, {all_loaded}, {{"buffer_gl1_inv"}, {"buffer_gl0_inv"}}};
}

bool contains_all(const isa::code_line& line, const instruction& texts) {
  return !line.is_label && std::ranges::all_of(texts, [&](std::string_view text) {
    return line.text.find(text) != line.text.npos;
  });
}

bool contains_one(const isa::code_line& line, const instruction& texts) {
  return !line.is_label && std::ranges::any_of(texts, [&](std::string_view text) {
    return line.text.find(text) != line.text.npos;
  });
}

/// The first instruction of `needed` that is missing between two lines; empty where none is.
std::string first_missing(std::vector<isa::code_line>::const_iterator first,
                          std::vector<isa::code_line>::const_iterator last,
                          const std::vector<instruction>& needed) {
  for (const instruction& each : needed) {
    first = std::find_if(first, last,
                         [&](const isa::code_line& line) { return contains_all(line, each); });
    if (first == last) return std::string(each.front()) + " is missing ";
    ++first;
  }
  return {};
}

/// What is missing of the order, in words; empty where nothing is.
std::string missing_in(const isa::kernel_code& kernel, const fences& needed) {
  const auto& code = kernel.code;
  const auto begin = code.begin(), end = code.end();
  const auto is_one_of = [](instruction texts) {
    return [=](const isa::code_line& line) { return contains_one(line, texts); };
  };
  const auto ticket = std::find_if(begin, end, is_one_of({"global_atomic_inc", "inc.u32"}));
  const auto after_store = std::find_if(std::make_reverse_iterator(ticket), code.rend(),
                                        is_one_of({"global_store", "flat_store", "st.global"}))
                               .base();
  const auto barrier = std::find_if(ticket, end, is_one_of({"s_barrier", "bar.sync"}));
  const auto load =
      std::find_if(barrier, end, is_one_of({"global_load", "flat_load", "ld.global"}));
  if (after_store == begin || load == end) return "there is no ticket, or it is not used";
  if (std::any_of(after_store, ticket, [](const isa::code_line& line) { return line.is_label; }))
    return "there is another way to the ticket than from the store";
  if (!contains_all(*ticket, needed.ticket)) return "the ticket is not for all blocks";

  if (const std::string what = first_missing(after_store, ticket, needed.before_ticket);
      !what.empty())
    return what + "between the partial and the ticket";
  if (const std::string what = first_missing(ticket, barrier, needed.after_ticket); !what.empty())
    return what + "between the ticket and the barrier";
  if (const std::string what = first_missing(barrier, load, needed.after_barrier); !what.empty())
    return what + "between the barrier and the loads";
  return {};
}

/// Stage 11 without one of its fences, LEFT_OUT, counted from 0.
constexpr const char* stage_unit =
    "#include \"common/gpu.hpp\"\n"
    "#include \"common/operators.hpp\"\n"
    "namespace tenfold {\n"
    "template <int Fence> __device__ void fence_unless_left_out() {\n"
    "  if constexpr (Fence != LEFT_OUT) __threadfence();\n"
    "}\n"
    "constexpr int first_fence = __COUNTER__ + 1;\n"
    "}\n"
    "#define __threadfence() fence_unless_left_out<__COUNTER__ - first_fence>()\n"
    "#include \"kernels/beyond/11_single_pass.hpp\"\n"
    "namespace tenfold {\n"
    "template __global__ void\n"
    "single_pass::reduce_blocks<256, WARP_SIZE, 4, float, float, sum<float>>(\n"
    "    const float*, float*, std::size_t, sum<float>, float*, unsigned*);\n"
    "}\n";

class Fences : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string& reason = reason_to_skip(architecture_);
    if (!reason.empty()) GTEST_SKIP() << "no machine code to look at: " << reason;
  }

  const isa::architecture architecture_ = isa::parse_architecture(GetParam());
};

TEST_P(Fences, KeepPartialsBeforeTheTicketAndLoadsAfterIt) {
  int looked_at = 0;
  for (const stage_kernel& each : stage_kernels(architecture_)) {
    if (each.of.stage < 11 || each.of.stage > 13) continue;
    SCOPED_TRACE(label_of(each.of));
    EXPECT_EQ(missing_in(each.code, needed_on(architecture_)), "");
    ++looked_at;
  }
  EXPECT_GT(looked_at, 0);
}

// A test that looks for instructions shows little unless it misses them as well.
TEST_P(Fences, AreMissedWhereTheyAreLeftOut) {
  const auto missing = [&](int left_out) {
    const auto kernels = isa::compile(stage_unit, architecture_,
                                      {"-DLEFT_OUT=" + std::to_string(left_out),
                                       "-DWARP_SIZE=" + std::to_string(architecture_.warp_size)});
    return missing_in(kernels.at(0), needed_on(architecture_));
  };
  EXPECT_EQ(missing(-1), "");
  EXPECT_NE(missing(0).find("between the partial and the ticket"), std::string::npos);
  EXPECT_NE(missing(1).find("between the barrier and the loads"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Codegen, Fences, testing::Values(TENFOLD_ARCHITECTURES),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenfold::codegen
