// Sums of matrices' rows and columns, and of segments, of elements of TENFOLD_ELEMENT_BYTES: a unit
// for each size, since together they take as long to compile as all stages.
#include "bench/peers/matrix_sums.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {

template std::unique_ptr<runnable> make_matrix_sums<TENFOLD_ELEMENT_BYTES>(session&,
                                                                           const conditions&,
                                                                           const planner&);

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
