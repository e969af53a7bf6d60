#include "host/observe/watched_run.hpp"

#include <vector>

#include "host/input.hpp"

namespace tenfold::observe {

std::span<const std::string> reduction_parameters() {
  static const std::vector<std::string> names{"in", "out", "n", "op", "partials", "ticket"};
  return names;
}

watched_result run_watched(const profile_request& r, simt::observer& by) {
  const watch watching(by);
  const auto on = backends().back()->open(r.warp_size);
  const std::size_t bytes = r.n * size_of(r.type);
  const auto in = on->allocate(bytes);
  std::vector<std::byte> elements(bytes);
  generate_input(elements.data(), r.type, "sum", r.n, 1);
  on->upload(in->data(), elements.data(), bytes);
  const auto reduction = on->make_reduction({r.stage, r.type, "sum", r.shape, r.n});
  reduction->enqueue(in->data(), r.n);
  return {reduction->used_shape(), reduction->plan_for(r.n), reduction->result()};
}

}  // namespace tenfold::observe
