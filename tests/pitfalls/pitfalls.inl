// Compiled once per backend.
#include "tests/pitfalls/pitfalls.hpp"

#include <variant>

#include "host/data/input.hpp"
#include "host/data/reference.hpp"
#include "host/reducer.hpp"
#include "tenfold_all_pitfalls.hpp"

namespace tenfold::pitfalls {
namespace {

template <typename Stage, typename T>
outcome sum_with(const request& asked) {
  constexpr element_type type = element_type_of<T>;
  const device on(asked.device);
  const stream queue(on);
  const device_memory memory(on, (asked.offset + asked.n) * sizeof(T));
  T* const in = static_cast<T*>(memory.data()) + asked.offset;
  reducer<T, T, sum<T>> reduce(Stage{}, on, asked.n, {.block = asked.block});
  const std::uint64_t depth = reduce.plan_for(asked.n).depth();

  outcome found;
  std::vector<T> elements(asked.n);
  for (int time = 0; time < asked.times; ++time) {
    generate_input(elements.data(), type, "sum", asked.n, static_cast<std::uint64_t>(time));
    copy_to_device(in, elements.data(), asked.n * sizeof(T), queue.handle());
    queue.synchronize();
    const reference correct = make_reference(elements.data(), type, "sum", asked.n);
    const T result = reduce(in, asked.n);
    if (judge(correct, result, depth) != verdict::right) ++found.wrong;
    found.result = static_cast<double>(result);
    found.expected = static_cast<double>(std::get<T>(correct.expected));
  }
  return found;
}

template <typename Stage>
outcome run(const request& asked) {
  return asked.floats ? sum_with<Stage, float>(asked) : sum_with<Stage, std::uint32_t>(asked);
}

}  // namespace

std::vector<kernel> all() {
  return {
#define TENFOLD_LIST_PITFALL(name)            \
  {#name, false, &run<tenfold::name::stage>}, \
      {#name "_mended", true, &run<tenfold::name::mended::stage>},
      TENFOLD_PITFALLS(TENFOLD_LIST_PITFALL)
#undef TENFOLD_LIST_PITFALL
  };
}

}  // namespace tenfold::pitfalls
