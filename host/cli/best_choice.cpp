#include "host/cli/best_choice.hpp"

#include <tuple>
#include <vector>

#include "host/error.hpp"

namespace tenfold::cli {

stage_choice choose_best(session& on, element_type type, const std::string& op, std::uint64_t n,
                         timing_mode mode) {
  const launch_query q{on.properties(), n, size_of(type), mode};
  const std::vector<stage_choice> choices = best_choices(q, families_of(type, op));
  for (const stage_choice& each : choices) try {
      std::ignore = on.make_reduction(
          {.stage = each.stage.number, .type = type, .op = op, .shape = each.by.shape, .max_n = n});
      return each;
    } catch (const input_error&) {
      if (&each == &choices.back()) throw;
    }
  throw input_error("no stage serves this operator");
}

}  // namespace tenfold::cli
