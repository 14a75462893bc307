// The built-ins of HIP that our sources use, for a clang without HIP's headers; as in clang's __clang_hip_math.h.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct Position {
  unsigned x, y;
};
#define blockIdx (Position{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y()})
#define threadIdx (Position{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y()})
#define blockDim (Position{__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y()})
#define gridDim \
  (Position{__builtin_amdgcn_grid_size_x() / blockDim.x, __builtin_amdgcn_grid_size_y() / blockDim.y})
#define __float_as_int(x) __builtin_bit_cast(int, x)
#define __int_as_float(x) __builtin_bit_cast(float, x)
#define __double_as_longlong(x) __builtin_bit_cast(long long, x)
#define __longlong_as_double(x) __builtin_bit_cast(double, x)
#define __umul64hi(x, y) (unsigned long long)((unsigned __int128)(x) * (y) >> 64)
