/// @file
/// What the executor does not have of CUDA and HIP: whoever uses it gets one line of the compiler's
/// at the place, which says so. For units of kernels alone, since `asm` is a word of other headers.
#pragma once

/// What is written in a GPU's own instructions. The second half is what the compiler reads after it
/// has failed.
#define asm                                                                                     \
  static_assert(false,                                                                          \
                "the executor does not run inline PTX or other assembly: write it in words of " \
                "CUDA or HIP, or run the kernel on a GPU");                                     \
  __asm__

#define TENFOLD_REFUSED(what) \
  __attribute__((unavailable("the executor has no " what ", or run the kernel on a GPU")))

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

#define TENFOLD_TEXTURE(name)                         \
  template <typename T = void, typename... Arguments> \
  TENFOLD_REFUSED("textures: read through a pointer") \
  T name(Arguments...);
TENFOLD_TEXTURE(tex1Dfetch)
TENFOLD_TEXTURE(tex1D)
TENFOLD_TEXTURE(tex2D)
TENFOLD_TEXTURE(tex3D)
TENFOLD_TEXTURE(surf1Dread)
TENFOLD_TEXTURE(surf2Dread)
#undef TENFOLD_TEXTURE
template <typename...>
class TENFOLD_REFUSED("textures: read through a pointer") texture;

// Of a kernel that launches others.
template <typename... Arguments>
TENFOLD_REFUSED("launches from a kernel: launch from the host")
int cudaDeviceSynchronize(Arguments...);
#undef TENFOLD_REFUSED
