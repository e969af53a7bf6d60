// What compilers print of kernels; the first letter says which of them: PTX, ptxas, SASS or AMD.
#include "host/isa/readers.hpp"
#include "tests/fuzz/fuzz.hpp"

void tenfold::fuzz(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view text = bytes.substr(1);
  std::vector<isa::kernel_code> kernels;
  switch (bytes.front()) {
    case 'P':
      kernels = isa::read_ptx(text);
      break;
    case 'R':
      kernels = {{"kernel", {}, {}}};
      isa::read_ptxas_report(text, kernels);
      break;
    case 'S':
      kernels = isa::read_sass(text);
      break;
    case 'A':
      kernels = isa::read_amdgcn(text);
  }
  for (const isa::kernel_code& each : kernels) {
    static_cast<void>(isa::count_loops(each) + isa::count_barriers(each));
    static_cast<void>(isa::count_global_loads(each, 4) + isa::count_instructions(each, "v_"));
    static_cast<void>(isa::count_kind(each, isa::instruction_kind::shuffle));
  }
}
