"""Host kernels: functions on NumPy views of host memory, which any library may own."""
