// Random numbers on CUDA and HIP in one kernel: Threefry-2x32-20, then the steps of xarrayops.plugin.distributions.
//
// xarrayops.plugin.device_random writes the text before this one. It defines the constants; BITS, the number of random
// bits of an element, 32 or 64; NUMBER, the type of the results; and DRAWN, one of the functions bits, keys, integers,
// uniform, exponential and normal. Each operation rounds once, to nearest: no compiler contracts or approximates it.

#ifdef __clang__  // the intrinsics of HIP are operators
#pragma clang fp contract(off)
#endif
#if BITS == 32
typedef float real;
typedef int whole;
#define ROUNDED(operation) __f##operation##_rn
#define AS_WHOLE __float_as_int
#define AS_REAL __int_as_float
#else
typedef double real;
typedef long long whole;
#define ROUNDED(operation) __d##operation##_rn
#define AS_WHOLE __double_as_longlong
#define AS_REAL __longlong_as_double
#endif
typedef unsigned int word;
typedef unsigned long long words;

struct Options {
  words low, width;  // a width of 0 is 2**64
  double loc, scale;
};

__device__ inline words threefry(word k0, word k1, words counter) {
  const word key[3] = {k0, k1, k0 ^ k1 ^ PARITY};
  const int turns[2][4] = ROTATIONS;
  word x0 = (word)(counter >> 32) + k0, x1 = (word)counter + k1;
#pragma unroll
  for (int group = 0; group < GROUPS; ++group) {
#pragma unroll
    for (int round = 0; round < 4; ++round) {
      const int turn = turns[group % 2][round];
      x0 += x1;
      x1 = (x1 << turn | x1 >> (32 - turn)) ^ x0;
    }
    x0 += key[(group + 1) % 3];
    x1 += key[(group + 2) % 3] + group + 1;
  }
  return (words)x0 << 32 | x1;
}

template <int N>
__device__ inline real polynomial(const real (&coefficients)[N], real x) {
  real value = coefficients[0];
#pragma unroll
  for (int k = 1; k < N; ++k) value = ROUNDED(add)(ROUNDED(mul)(x, value), coefficients[k]);
  return value;
}

template <int N, int M>
__device__ inline real rational(const real (&numerator)[N], const real (&denominator)[M], real x) {
  return ROUNDED(div)(polynomial(numerator, x), polynomial(denominator, x));
}

__device__ inline real minus_log(real x) {
  const whole shifted = AS_WHOLE(x) + (((whole)BIAS << MANTISSA) - LOWEST);
  const real n = (real)(BIAS - (shifted >> MANTISSA));
  const real f = ROUNDED(sub)(AS_REAL((shifted & (((whole)1 << MANTISSA) - 1)) + LOWEST), 1);
  const real s = ROUNDED(div)(f, ROUNDED(add)(f, 2));
  const real product = ROUNDED(mul)(s, polynomial(LOG, ROUNDED(mul)(s, s)));
  return ROUNDED(add)(ROUNDED(mul)(n, LN2[0]), ROUNDED(sub)(ROUNDED(mul)(n, LN2[1]), product));
}

__device__ inline real scaled(real x, Options options) {
  return ROUNDED(add)(ROUNDED(mul)(x, (real)options.scale), (real)options.loc);
}

__device__ inline real upper(words bits) { return (real)(whole)(bits >> (BITS - DIGITS)); }

__device__ inline real uniform(words bits, Options options) {
  return scaled(ROUNDED(mul)(upper(bits), UNIT), options);
}

__device__ inline real exponential(words bits, Options options) {
  return scaled(minus_log(ROUNDED(mul)(ROUNDED(add)(upper(bits), 1), UNIT)), options);
}

__device__ inline real of_interval(whole k) {
  return ROUNDED(mul)(ROUNDED(add)((real)k, (real)0.5), UNIT_OF_NORMAL);
}

__device__ inline real normal(words bits, Options options) {
  const whole sign = (whole)bits >> (BITS - 1), magnitude = ((whole)bits >> (BITS - NORMAL)) ^ sign;
  const real q = of_interval(magnitude), central = (real)CENTRAL;
  real x;
  if (q > central) {
    const real r = ROUNDED(sqrt)(minus_log(of_interval(HALF - 1 - magnitude)));
    x = r > (real)FAR_FROM ? rational(FAR, FAR_BELOW, ROUNDED(sub)(r, (real)FAR_FROM))
                           : rational(TAIL, TAIL_BELOW, ROUNDED(sub)(r, (real)TAIL_FROM));
  } else {
    const real square = ROUNDED(mul)(ROUNDED(sub)(central, q), ROUNDED(add)(central, q));
    x = ROUNDED(mul)(q, rational(CENTRE, CENTRE_BELOW, square));
  }
  return scaled(sign ? -x : x, options);
}

__device__ inline words integers(words bits, Options options) {
  return (options.width ? __umul64hi(bits, options.width) : bits) + options.low;
}

__device__ inline words bits(words bits, Options options) { return bits; }

__device__ inline words keys(words bits, Options options) { return bits << 32 | bits >> 32; }

// An element for each key and each counter; the counters are 0, 1, … if there is no array of them. If there is no array
// of keys, the key is (key0, key1).
extern "C" __global__ void xarrayops_draw(NUMBER* out, const word* key_words, const long long* counters,
                                          long long key0, long long key1, long long count, long long size,
                                          long long low, long long width, double loc, double scale) {
  const Options options = {(words)low, (words)width, loc, scale};
  for (long long k = blockIdx.y; k < count; k += gridDim.y) {
    const word k0 = key_words ? key_words[2 * k] : (word)key0, k1 = key_words ? key_words[2 * k + 1] : (word)key1;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size;
         i += (long long)gridDim.x * blockDim.x) {
      const long long place = k * size + i;
      const words both = threefry(k0, k1, counters ? counters[place] : i);
      out[place] = (NUMBER)DRAWN(BITS == 64 ? both : (word)(both >> 32 ^ both), options);
    }
  }
}
