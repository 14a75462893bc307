// The symmetric quantisation of rows to int8. REAL and DIVIDE are defined before.
extern "C" __global__ void xarrayops_quantized_rows(const REAL* x, const REAL* most, signed char* values, REAL* scales,
                                                    long long rows, long long columns) {
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    REAL scale = most[row] * (REAL)SHARE;
    scale = scale < (REAL)LEAST ? (REAL)LEAST : scale;
    if (scale - scale != 0) scale = scale - scale;  // NaN for infinity
    long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (!first) scales[row] = scale;
    for (long long i = first; i < columns; i += (long long)gridDim.x * blockDim.x) {
      REAL ratio = DIVIDE(x[row * columns + i], scale);
      REAL steps = rint(ratio);
      steps = steps > LIMIT ? (REAL)LIMIT : steps < -LIMIT ? (REAL)-LIMIT : steps;
      values[row * columns + i] = ratio != ratio ? 0 : (signed char)steps;
    }
  }
}
