#include "host/own/foreign_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "host/backends/names.hpp"
#include "host/error.hpp"
#include "host/own/foreign_call.hpp"
#include "host/own/foreign_file.hpp"
#include "host/text/cpp_text.hpp"
#include "host/text/process.hpp"

namespace tenfold {
namespace fs = std::filesystem;

bool is_foreign(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(file, failure)) return false;
  const std::string text = read_text(file);
  return text.find("TENFOLD_BACKEND") == text.npos && mentions(text, "__global__");
}

namespace {

/// From the global namespace, with the template arguments that a call gives to classes.
std::string qualified_name(const device_function& kernel, const launch_call& call) {
  const std::string whole = kernel.scope + kernel.name;
  const std::size_t last = call.kernel.rfind("::") + 2;
  if (call.kernel.find('<') == std::string::npos) return "::" + whole;
  const std::size_t known = without_template_arguments(call.kernel).size();
  return fmt::format("::{}{}{}{}", whole.substr(0, whole.size() - std::min(known, whole.size())),
                     call.kernel.substr(0, last),
                     call.template_arguments.empty() ? "" : "template ", call.kernel.substr(last));
}

}  // namespace

adapted_kernel adapt_kernel(const fs::path& file, const std::string& call, std::string_view op,
                            std::string_view name, bool marks_lines) {
  adapted_kernel made;
  std::string text = call;
  if (text.empty()) {
    const std::vector<std::string> beside = calls_beside(file);
    if (beside.size() == 1) text = beside.front();
    if (beside.size() > 1)
      throw input_error(fmt::format(
          "'{}' comes with {} calls: choose one with --call, or judge them all with 'tenfold check "
          "--corpus'",
          file.string(), beside.size()));
  }
  std::optional<launch_call> how;
  std::set<std::string> named;
  if (!text.empty()) {
    how = parse_call(text);
    for (const cpp_token& each : read_cpp(text))
      if (each.is_word()) named.insert(std::string(each.text));
  }
  const foreign_file source = read_foreign_file(file, marks_lines, std::move(named));
  if (source.kernels().empty())
    throw input_error(fmt::format("there is no __global__ function in '{}'", file.string()));
  if (!how || how->kernel.empty()) {
    const std::string said = how ? how->op : "";
    how = guess_call(file, source, made.assumptions);
    how->op = said;
  }
  const device_function& kernel = find_called(file, source, *how);
  made.kernel = kernel.name;
  made.text = source.text;

  const std::string body = reachable_text(source, kernel);
  const auto result = std::ranges::find_if(
      how->arguments, [](const std::string& each) { return mentions(each, "out"); });
  const auto index = static_cast<std::size_t>(result - how->arguments.begin());
  const bool adds = how->clears_result || adds_atomically(kernel, kernel.parameters[index].name);
  if (adds && !how->clears_result)
    made.assumptions.emplace_back("*out is 0 first, as the kernel adds to it: say '*out = 0;'");
  const bool has_more = how->uses("scratch") || how->uses("counter");
  const bool is_single = !adds && (has_more || is_single_pass(body));
  if (is_single && !has_more)
    made.assumptions.emplace_back(
        "one launch does it all, as the kernel waits for its blocks or counts them");
  const bool takes_any = how->uses("op") || how->uses("Op") || how->uses("identity");
  const std::string_view said = how->op.empty() ? op : how->op;
  const std::string folds = said == "none" ? "none" : choose_operator(said, element_type::i32);
  const std::string only = takes_any && folds == "sum" ? "" : folds;
  std::string grid_function, grid;
  if (how->grid != "blocks") {
    grid_function = fmt::format(
        R"(
template <typename A, typename B>
__host__ __device__ constexpr auto min(A a, B b) {{
  const std::common_type_t<A, B> x = a, y = b;
  return x < y ? x : y;
}}
template <typename A, typename B>
__host__ __device__ constexpr auto max(A a, B b) {{
  const std::common_type_t<A, B> x = a, y = b;
  return x < y ? y : x;
}}
constexpr std::size_t grid([[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t threads) {{
  return static_cast<std::size_t>({});
}}
// Of so many elements the grid tells how many a thread folds, or that it is the same for any number.
inline constexpr std::size_t many = std::size_t{{1}} << 40;
)",
        how->grid);
    grid = R"(  static constexpr bool takes_grid = grid(many, 64) == grid(2 * many, 64);
  static constexpr std::size_t own_grid = takes_grid ? grid(many, 64) : 0;
  static constexpr std::size_t elements_per_thread(const stage_launch& l) {
    return takes_grid ? 1 : many / max(grid(many, l.block) * l.block, 1);
  }
)";
  } else {
    const bool loops = mentions(body, "gridDim"), meets = loops && mentions(body, "this_grid");
    const unsigned each = elements_by_text(source, body);
    grid = fmt::format(
        "  static constexpr bool takes_grid = {};\n"
        "  static constexpr std::size_t own_grid = {};\n"
        "  static constexpr std::size_t elements_per_thread(const stage_launch&) {{ return {}; "
        "}}\n",
        loops, meets ? 16 : 0, each);
    made.assumptions.push_back(meets   ? "blocks: 16, as this_grid().sync() has all run at once"
                               : loops ? "blocks: any number, as the kernel reads gridDim"
                                       : fmt::format("blocks: enough for {} element{} a thread",
                                                     each, each == 1 ? "" : "s"));
  }
  const bool is_free = how->block == "threads";
  const std::string called = fmt::format("{}{}({})", qualified_name(kernel, *how),
                                         how->template_arguments, fmt::join(how->arguments, ", "));
  // Macros of the file's own must not reach what follows.
  for (const char* each : {"in", "out", "n", "threads", "blocks", "warp", "scratch", "counter",
                           "op", "identity", "T", "In", "Op", "stage"})
    made.adaptor += fmt::format("#undef {}\n", each);
  made.adaptor += fmt::format(
      R"(
namespace tenfold::inline TENFOLD_BACKEND::{name} {{

/// Words that are zero before the launch, of whatever type the kernel counts in.
struct zeroed {{
  unsigned* words;

  template <typename T>
  __host__ __device__ operator T*() const {{
    return reinterpret_cast<T*>(words);
  }}
}};

template <int BlockSize, int WarpSize, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    {kernel}(const T* elements, T* out, std::size_t n, [[maybe_unused]] Op op,
             [[maybe_unused]] T* scratch, unsigned* words) {{
  [[maybe_unused]] constexpr unsigned threads = BlockSize;
  [[maybe_unused]] constexpr int warp = WarpSize;
  [[maybe_unused]] const T identity = op.identity();
  [[maybe_unused]] const zeroed counter{{words}};
  [[maybe_unused]] const unsigned blocks = gridDim.x;
  [[maybe_unused]] T* const in = const_cast<T*>(elements);
  {called};
}}

{grid_function}
struct stage : stage_defaults {{
  static constexpr std::string_view only_operator = "{only}";
  static constexpr bool adds_to_result = {adds};
  static constexpr bool folds_its_partials = {is_single};
  static constexpr bool leaves_result_first = {is_single};
  static constexpr bool clears_ticket = {clears};
  template <typename In>
  static constexpr std::size_t zeroed_bytes = 256;
  static constexpr int only_block = {block};
  static constexpr bool needs_whole_warps = true;
{grid}  template <typename T>
  static constexpr std::size_t shared_bytes([[maybe_unused]] std::size_t threads) {{
    return static_cast<std::size_t>({shared});
  }}
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {{
    return l.partial_bytes == 8 ? shared_bytes<double>(l.block) : shared_bytes<float>(l.block);
  }}
  /// The types of elements that the call takes.
  template <typename T, unsigned threads = {some_block}, int warp = 32,
            typename Op = {some_operator}<T>>
  static constexpr bool serves = requires(T* in, T* out, std::size_t n, unsigned blocks, Op op,
                                          T identity, T* scratch, zeroed counter) {{ {called}; }};

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {{
    return &{name}::{kernel}<BlockSize, {warp}, T, Op>;
  }}
}};
static_assert(stage::serves<float> || stage::serves<double> || stage::serves<int> ||
                  stage::serves<unsigned>,
              "the kernel does not take what the call gives it: see its parameters");

}}  // namespace tenfold::inline TENFOLD_BACKEND::{name}
)",
      fmt::arg("name", name), fmt::arg("kernel", kernel.name), fmt::arg("called", called),
      fmt::arg("adds", adds), fmt::arg("is_single", is_single),
      fmt::arg("clears", how->clears_counter), fmt::arg("only", only),
      fmt::arg("some_operator", only.empty() || only == "none" ? "sum" : only),
      fmt::arg("warp", how->uses("warp") ? "WarpSize" : "32"),
      fmt::arg("block", is_free ? "0" : how->block), fmt::arg("grid", grid),
      fmt::arg("grid_function", grid_function),
      fmt::arg("shared", how->shared_bytes.empty() ? "0" : how->shared_bytes),
      fmt::arg("some_block", is_free ? "256" : how->block));
  return made;
}

}  // namespace tenfold
