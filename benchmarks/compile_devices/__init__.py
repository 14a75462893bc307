"""Proof by compilers: what compiles for a GPU or TPU on a machine that has none, and what the products contain.

Each step is a module with ``main(arguments) -> dict``, runs in an environment of its own, and writes
``benchmarks/results/compiled/<step>.json``. Nothing is run on a device: wrong results, races and speed stay unseen.
"""
