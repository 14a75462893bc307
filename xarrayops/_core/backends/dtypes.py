"""The dtypes of the public namespace."""

from xarrayops._core.backends.dtype_names import DTypeName

bool = DTypeName("bool")
int8 = DTypeName("int8")
int16 = DTypeName("int16")
int32 = DTypeName("int32")
int64 = DTypeName("int64")
uint8 = DTypeName("uint8")
uint16 = DTypeName("uint16")
uint32 = DTypeName("uint32")
uint64 = DTypeName("uint64")
float16 = DTypeName("float16")
bfloat16 = DTypeName("bfloat16")
float8_e4m3fn = DTypeName("float8_e4m3fn")
float8_e5m2 = DTypeName("float8_e5m2")
float32 = DTypeName("float32")
float64 = DTypeName("float64")
complex64 = DTypeName("complex64")
complex128 = DTypeName("complex128")
