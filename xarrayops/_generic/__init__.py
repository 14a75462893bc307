"""The generic functions: hooks written on the array API standard alone, for libraries without their own."""
