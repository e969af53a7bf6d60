// rocPRIM, which hipCUB calls as well.
#include <rocprim/rocprim.hpp>

#include "bench/peers/two_phase_peer.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {
namespace {

template <std::size_t ElementBytes>
std::unique_ptr<runnable> make(session& on, const conditions& at) {
  return make_typed<ElementBytes>(at, [&]<typename T, typename Op>() {
    const auto reduce = [](void* scratch, std::size_t& bytes, const T* in, T* out, std::uint64_t n,
                           stream_handle queue) {
      return rocprim::reduce(scratch, bytes, in, out, Op{}.identity(), n, Op{}, queue);
    };
    return std::make_unique<two_phase_peer<T, T, decltype(reduce)>>(own_session(on), at.n, reduce);
  });
}

}  // namespace

std::unique_ptr<runnable> make_rocprim_peer(session& on, const conditions& at) {
  refuse_narrow(at, "rocPRIM");
  return size_of(at.type) == 4 ? make<4>(on, at) : make<8>(on, at);
}

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
