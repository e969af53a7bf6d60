// Numbers: vectors, least and greatest, rounding, bits, half and bfloat16.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>

#include "tests/words/check.hpp"

namespace words {

static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
static_assert(sizeof(double2) == 16 && alignof(double2) == 16);
static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4);
static_assert(sizeof(char3) == 3 && alignof(char3) == 1);
static_assert(sizeof(short2) == 4 && alignof(short2) == 4);
static_assert(sizeof(ushort4) == 8 && alignof(ushort4) == 8);
static_assert(sizeof(longlong2) == 16 && alignof(longlong2) == 16);
static_assert(sizeof(ulonglong3) == 24 && alignof(ulonglong3) == 8);
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4);

struct __align__(16) padded {
  float value;
};
static_assert(sizeof(padded) == 16);

__constant__ int table[3] = {5, 6, 7};

__device__ __forceinline__ int inlined(int x) {
  return x + 1;
}
__device__ __noinline__ int called(int x) {
  return x + 2;
}

__global__ void vectors(int* wrong) {
  float4 v = make_float4(1, 2, 3, 4);
  v.w = 5;
  EXPECT(v.x + v.y + v.z + v.w, 11.0f);
  const int2 pair = {3, 4};
  EXPECT(pair.x * pair.y, 12);
  EXPECT(make_uchar4(1, 2, 3, 255).w, static_cast<unsigned char>(255));
  dim3 extent(7);
  EXPECT(extent.x * 100 + extent.y * 10 + extent.z, 711u);
  extent = blockDim;
  const uint3 position = threadIdx;
  EXPECT(extent.x * extent.y * extent.z > position.x, true);
  const float4 loaded = __ldg(&v);
  EXPECT(loaded.w, 5.0f);
  EXPECT(__ldcs(&v.x) + __ldcg(&v.y), 3.0f);
  EXPECT(table[opaque(1)] + inlined(0) + called(0), 9);
  EXPECT(sizeof(warpSize), sizeof(int));
}

__global__ void extrema(int* wrong) {
  EXPECT(min(opaque(-1), opaque(1u)), 1u);
  EXPECT(max(opaque(-1), opaque(1u)), UINT_MAX);
  EXPECT(min(opaque(INT_MIN), 0), INT_MIN);
  EXPECT(max(opaque(-1LL), opaque(1ULL)), ULLONG_MAX);
  EXPECT(min(opaque(2.0f), opaque(1.0)), 1.0);
  EXPECT(umin(opaque(-1), 3), 3u);
  EXPECT(fmaxf(opaque(NAN), 1.0f), 1.0f);
  EXPECT(fminf(1.0f, opaque(NAN)), 1.0f);
  EXPECT(max(opaque(NAN), 1.0f), 1.0f);
  EXPECT(fmaxf(opaque(NAN), NAN), NAN);
  EXPECT(fmaxf(opaque(-INFINITY), -FLT_MAX), -FLT_MAX);
  EXPECT(fmax(opaque(-1.0), 1.0), 1.0);
  EXPECT(abs(opaque(-3)), 3);
  EXPECT(abs(opaque(-3.5f)), 3.5f);
  EXPECT(isnan(opaque(NAN)) && !isnan(opaque(INFINITY)) && isinf(opaque(-INFINITY)), true);
  EXPECT(__saturatef(opaque(NAN)), 0.0f);
  EXPECT(__saturatef(opaque(2.0f)), 1.0f);
}

__global__ void rounding(int* wrong) {
  const float tiny = opaque(0x1p-30f), one = opaque(1.0f);
  EXPECT(__fadd_rn(one, tiny), 1.0f);
  EXPECT(__fadd_ru(one, tiny), 0x1.000002p0f);
  EXPECT(__fadd_rz(one, -tiny), 0x1.fffffep-1f);
  EXPECT(__fadd_rd(-one, -tiny), -0x1.000002p0f);
  EXPECT(__fsub_rd(one, tiny), 0x1.fffffep-1f);
  EXPECT(__fmul_rz(opaque(0.1f), opaque(0.1f)), 0x1.47ae14p-7f);
  EXPECT(__fmul_ru(opaque(0.1f), opaque(0.1f)), 0x1.47ae16p-7f);
  EXPECT(__fdiv_rd(one, opaque(3.0f)), 0x1.555554p-2f);
  EXPECT(__fdiv_ru(one, opaque(3.0f)), 0x1.555556p-2f);
  EXPECT(__fmaf_rn(opaque(0x1.000002p0f), 0x1.000002p0f, -0x1.000004p0f), 0x1p-46f);
  EXPECT(__fsqrt_rn(opaque(2.0f)), 0x1.6a09e6p0f);
  EXPECT(__dadd_ru(opaque(1.0), 0x1p-80), 0x1.0000000000001p0);
  EXPECT(__fma_rn(opaque(0x1.0000000000001p0), 0x1.0000000000001p0, -0x1.0000000000002p0),
         0x1p-104);
  EXPECT(__fdividef(opaque(6.0f), 2.0f), 3.0f);
  EXPECT(rsqrtf(opaque(4.0f)), 0.5f);
  EXPECT(__expf(opaque(0.0f)) + __powf(opaque(2.0f), 0.0f), 2.0f);

  EXPECT(__float2int_rn(opaque(2.5f)), 2);
  EXPECT(__float2int_rz(opaque(-2.9f)), -2);
  EXPECT(__float2int_ru(opaque(2.1f)), 3);
  EXPECT(__float2int_rd(opaque(-2.1f)), -3);
  EXPECT(__float2int_rn(opaque(1e20f)), INT_MAX);
  EXPECT(__float2int_rn(opaque(-INFINITY)), INT_MIN);
  EXPECT(__float2int_rn(opaque(NAN)), 0);
  EXPECT(__float2uint_rz(opaque(-1.0f)), 0u);
  EXPECT(__float2uint_rz(opaque(0x1p32f)), UINT_MAX);
  EXPECT(__float2ll_rn(opaque(NAN)), LLONG_MIN);
  EXPECT(__double2int_rz(opaque(-1e300)), INT_MIN);
  EXPECT(__double2ull_rz(opaque(0x1p63)), 1ULL << 63);
  EXPECT(__int2float_rn(opaque(16777217)), 16777216.0f);
  EXPECT(__double2float_rn(opaque(0x1.000001p0)), 1.0f);

  EXPECT(__float_as_int(opaque(-0.0f)), INT_MIN);
  EXPECT(__int_as_float(opaque(0x7f800000)), INFINITY);
  EXPECT(__float_as_uint(opaque(1.0f)), 0x3f800000u);
  EXPECT(__double_as_longlong(opaque(-0.0)), LLONG_MIN);
  EXPECT(__hiloint2double(__double2hiint(opaque(0.1)), __double2loint(opaque(0.1))), 0.1);
}

__global__ void bits(int* wrong) {
  EXPECT(__clz(opaque(0)), 32);
  EXPECT(__clz(opaque(-1)), 0);
  EXPECT(__clz(opaque(1)), 31);
  EXPECT(__clzll(opaque(0LL)), 64);
  EXPECT(__clzll(opaque(1LL << 40)), 23);
  EXPECT(__ffs(opaque(0)), 0);
  EXPECT(__ffs(opaque(INT_MIN)), 32);
  EXPECT(__ffsll(opaque(0LL)), 0);
  EXPECT(__ffsll(opaque(LLONG_MIN)), 64);
  EXPECT(__brev(opaque(1u)), 1u << 31);
  EXPECT(__brev(opaque(0x12345678u)), 0x1e6a2c48u);
  EXPECT(__brevll(opaque(2ULL)), 1ULL << 62);
  EXPECT(__popc(opaque(UINT_MAX)), 32);
  EXPECT(__popcll(opaque(ULLONG_MAX)), 64);
  EXPECT(__byte_perm(opaque(0x33221100u), 0x77665544u, 0x7531), 0x77553311u);
  EXPECT(__byte_perm(opaque(0x000000f0u), 0x7f, 0xc8c8), 0x00ff00ffu);
  EXPECT(__funnelshift_l(opaque(0x80000000u), 1u, 1), 3u);
  EXPECT(__funnelshift_l(opaque(0x80000000u), 1u, 32), 1u);
  EXPECT(__funnelshift_lc(opaque(0x80000000u), 1u, 40), 0x80000000u);
  EXPECT(__funnelshift_r(opaque(4u), 1u, 2), 0x40000001u);
  EXPECT(__mul24(opaque(0x00800001), 2), static_cast<int>(0xff000002u));
  EXPECT(__umul24(opaque(0xff000003u), 2u), 6u);
  EXPECT(__mulhi(opaque(INT_MIN), 2), -1);
  EXPECT(__umulhi(opaque(UINT_MAX), UINT_MAX), UINT_MAX - 1);
  EXPECT(__mul64hi(opaque(LLONG_MIN), 2LL), -1LL);
  EXPECT(__umul64hi(opaque(ULLONG_MAX), 2ULL), 1ULL);
  EXPECT(__hadd(opaque(INT_MAX), INT_MAX), INT_MAX);
  EXPECT(__rhadd(opaque(-3), 0), -1);
  EXPECT(__sad(opaque(INT_MIN), INT_MAX, 1u), 0u);
  EXPECT(__usad(opaque(1u), 4u, 1u), 4u);
  EXPECT(__dp4a(opaque(static_cast<int>(0x80808080u)), 0x01010101, 12), -500);
  EXPECT(__dp4a(opaque(0x80808080u), 0x01010101u, 12u), 524u);
  EXPECT(__dp4a(make_uchar4(1, 2, 3, 4), make_uchar4(1, 1, 1, 255), 0u), 1026u);
}

template <typename T>
__device__ unsigned short bits_of(T x) {
  unsigned short bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

__global__ void halves(int* wrong) {
  using bits = unsigned short;
  const __half one = __float2half(opaque(1.0f)), eps = __float2half(0x1p-11f);
  EXPECT(bits_of(one), bits{0x3c00});
  EXPECT(bits_of(one + eps), bits{0x3c00});
  EXPECT(bits_of(one + __float2half(0x1.8p-11f)), bits{0x3c01});
  EXPECT(bits_of(__hadd(__float2half(65504.0f), __float2half(16.0f))), bits{0x7c00});
  EXPECT(bits_of(__hsub(one, one)), bits{0});
  EXPECT(bits_of(__hdiv(one, __float2half(3.0f))), bits{0x3555});
  EXPECT(bits_of(-one), bits{0xbc00});
  // What a product of its own would lose: 2^-20, and what tells a tie from more.
  const __half next = __ushort_as_half(0x3c01);
  EXPECT(bits_of(__hmul(next, next)), bits{0x3c02});
  EXPECT(bits_of(__hfma(next, next, -__hmul(next, next))), bits{0x0010});
  EXPECT(bits_of(__hfma(eps, one, one)), bits{0x3c00});
  EXPECT(bits_of(__hfma(eps, next, one)), bits{0x3c01});
  const __half nan = __float2half(NAN);
  EXPECT(__hisnan(nan) && !__heq(nan, nan) && !(nan < one) && __hlt(eps, one), true);
  EXPECT(bits_of(__hmax(nan, one)), bits{0x3c00});
  EXPECT(bits_of(__hmin(one, nan)), bits{0x3c00});
  EXPECT(bits_of(__hmax(__float2half(-0.0f), __float2half(0.0f))), bits{0});
  EXPECT(bits_of(__hmin(__float2half(0.0f), __float2half(-0.0f))), bits{0x8000});
  EXPECT(bits_of(__double2half(0x1.002p0 + 0x1p-40)), bits{0x3c01});
  EXPECT(static_cast<float>(one) + __half2float(eps), 1.00048828125f);
  EXPECT(bits_of(__int2half_rn(2049)), bits{0x6800});
  __half sum = 0.0f;
  for (int i = 0; i < 3; ++i) sum += one;
  EXPECT(bits_of(sum), bits{0x4200});

  __half2 pair = __floats2half2_rn(1.0f, 2.0f);
  pair = __hadd2(pair, __half2half2(one)) * pair;
  EXPECT(__low2float(pair) * 100 + __high2float(pair), 206.0f);
  EXPECT(bits_of(__hmax2(pair, __float2half2_rn(3.0f)).x), bits{0x4200});
  EXPECT(__half22float2(__hfma2(pair, pair, pair)).y, 42.0f);
  EXPECT(bits_of(__high2half(__halves2half2(eps, one))), bits{0x3c00});

  const __nv_bfloat16 wide = __float2bfloat16(opaque(1.0f));
  EXPECT(bits_of(wide + __float2bfloat16(0x1p-8f)), bits{0x3f80});
  EXPECT(bits_of(wide + __float2bfloat16(0x1.8p-8f)), bits{0x3f81});
  EXPECT(bits_of(__hmul(wide, __float2bfloat16(3.0f))), bits{0x4040});
  EXPECT(__bfloat162float(__hmax(wide, __float2bfloat16(NAN))), 1.0f);
  EXPECT(__high2float(__floats2bfloat162_rn(1.0f, 2.0f)), 2.0f);
  EXPECT(__bfloat1622float2(__hadd2(__bfloat162bfloat162(wide), __bfloat162bfloat162(wide))).x,
         2.0f);
}

}  // namespace words
