// CUDA's built-ins that our sources use, in C++: a kernel runs on the CPU, one thread after another.
#include <cmath>
#include <cstring>
#include <utility>

#define __device__ static
#define __global__
struct Position {
  unsigned x, y, z;
};
static thread_local Position gridDim, blockDim, blockIdx, threadIdx;

template <class To, class From>
static To same_bits(From x) {
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}
static int __float_as_int(float x) { return same_bits<int>(x); }
static float __int_as_float(int x) { return same_bits<float>(x); }
static long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static double __longlong_as_double(long long x) { return same_bits<double>(x); }
static unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
#define BOTH(name, arguments, value)              \
  static float __f##name##_rn arguments(float) {  \
    return value;                                 \
  }                                               \
  static double __d##name##_rn arguments(double) {\
    return value;                                 \
  }
#define ONE(type) (type x)
#define TWO(type) (type x, type y)
BOTH(add, TWO, x + y)
BOTH(sub, TWO, x - y)
BOTH(mul, TWO, x* y)
BOTH(div, TWO, x / y)
BOTH(sqrt, ONE, std::sqrt(x))

template <class... A, std::size_t... I>
static void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
  kernel(*(A*)arguments[I]...);
}

// The grid and the block, three numbers each, and the addresses of the arguments, as in cuLaunchKernel.
template <class... A>
static void launch(void (*kernel)(A...), const unsigned* shape, void** arguments) {
  gridDim = {shape[0], shape[1], shape[2]};
  blockDim = {shape[3], shape[4], shape[5]};
  for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
      for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
        call(kernel, arguments, std::index_sequence_for<A...>());
}
