"""Host kernels: functions on NumPy views of host memory that any library may own."""
