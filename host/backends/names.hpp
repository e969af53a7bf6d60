/// @file
/// Devices, stages and operators by the names that users know them by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/element.hpp"

namespace tenfold {

/// A device, by the backend's name and its number.
struct device_choice {
  const tenfold::backend* backend;
  int number;

  [[nodiscard]] std::string name() const;  ///< `cuda:0`, `simt:64`
  [[nodiscard]] bool is_executor() const;
};

/// Every device there is, GPUs first.
[[nodiscard]] std::vector<device_choice> all_devices();

/// The device that `simt`, `simt:64` or `cuda:0` names; the first of all when the text is empty.
/// @throws input_error naming the devices there are
/// @throws device_error saying why there are none of that backend
[[nodiscard]] device_choice choose_device(std::string_view text);

/// A stage by its number, its name, or its file's name: `3`, `no_bank_conflicts`, `03_no_...`.
/// @throws input_error naming the stages there are
[[nodiscard]] const stage_info& choose_stage(std::string_view text);

/// The names of the operators that take a type.
[[nodiscard]] std::vector<std::string_view> operators_for(element_type type);

/// The operator's name, from it or from a short form such as `min`.
/// @throws input_error naming the operators that take this type
[[nodiscard]] std::string choose_operator(std::string_view text, element_type type);

}  // namespace tenfold
