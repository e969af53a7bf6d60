/// @file
/// How a backend finds the kernels of each stage: in libraries, its modules, of which each holds
/// the kernels of one stage for some element types, and which are loaded, and where it takes that
/// built, when somebody asks for what is in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/backends/module.hpp"
#include "host/backends/registry.hpp"
#include "host/reduce/element.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Where the kernels of a stage are, for a type and an operator.
struct kernel_module {
  int number;
  element_type type;
  std::string_view op;    ///< as in `registered_stage`
  std::string_view name;  ///< `03_no_bank_conflicts_of_f32_sum`
};

/// All modules of a backend, built or not.
struct module_list {
  std::string_view backend;  ///< also the folder that they are in
  std::span<const kernel_module> modules;
};
[[nodiscard]] module_list kernel_modules();

/// The module that has a stage's kernels for a type and operator; null where none has.
[[nodiscard]] inline const kernel_module* find_module(int number, element_type type,
                                                      std::string_view op) {
  for (const std::string_view wanted : {op, std::string_view()})
    for (const kernel_module& each : kernel_modules().modules)
      if (each.number == number && each.type == type && each.op == wanted) return &each;
  return nullptr;
}

/// Null where no unit that is loaded has registered it.
[[nodiscard]] inline const registered_stage* find_registered(int number, element_type type,
                                                             std::string_view op) {
  for (const registered_stage& each : registered_stages())
    if (each.number == number && each.type == type && each.op == op) return &each;
  return nullptr;
}

/// Whether a stage has kernels for elements of a type, loaded or not.
[[nodiscard]] inline bool is_served(int number, element_type type) {
  const auto is_it = [&](const auto& each) { return each.number == number && each.type == type; };
  return std::ranges::any_of(registered_stages(), is_it) ||
         std::ranges::any_of(kernel_modules().modules, is_it);
}

/// What a backend does when it is told which kernels will be asked for.
inline void fetch_modules(std::span<const kernel_choice> wanted, std::size_t at_once) {
  std::vector<std::string_view> names;
  for (const kernel_choice& each : wanted)
    if (const kernel_module* in = find_module(each.stage, each.type, each.op))
      names.push_back(in->name);
  tenfold::fetch_modules(kernel_modules().backend, names, at_once);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
