#include "host/observe/observed_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/data/input.hpp"
#include "host/error.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::observe {

void check_size(std::uint64_t n, std::uint64_t most) {
  if (n > most)
    throw input_error(fmt::format("{} elements are more than can be observed: use at most {}",
                                  format_count(n), format_count(most)));
}

std::uint64_t elements_per_block(const run_request& r) {
  const auto on = backends().back()->open(r.warp_size);
  const shape used =
      on->make_reduction({r.stage, r.type, std::string(r.op), r.shape, 1})->used_shape();
  return static_cast<std::uint64_t>(used.block) * static_cast<std::uint64_t>(used.items);
}

observed_result run_observed(const run_request& r, simt::observer* by) {
  const bool is_fold = r.op != "none";
  const simt::scoped_observer observing(by != nullptr ? by : simt::current_observer());
  const auto on = backends().back()->open(r.warp_size);
  const std::size_t size = size_of(r.type);
  const auto memory = on->allocate((r.n + r.offset) * size);
  std::byte* const in = memory->data() + r.offset * size;
  std::vector<std::byte> elements(r.n * size);
  if (r.ones)
    visit_type(r.type, [&]<typename In>() {
      std::fill_n(reinterpret_cast<In*>(elements.data()), r.n, In(1));
    });
  else
    (r.exact ? generate_exact_input : generate_input)(elements.data(), r.type, r.op, r.n, 1, {});
  on->upload(in, elements.data(), elements.size());
  const auto reduction = on->make_reduction({r.stage, r.type, std::string(r.op), r.shape, r.n});
  reduction->enqueue(in, r.n);
  return {std::string(r.name),
          reduction->used_shape(),
          reduction->plan_for(r.n),
          reduction->result(),
          make_reference(elements.data(), r.type, is_fold ? r.op : "sum", r.n),
          is_fold};
}

}  // namespace tenfold::observe
