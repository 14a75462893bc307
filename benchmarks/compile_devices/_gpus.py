"""The GPUs for which XLA compiles, and that are not there: their properties, and the devices of JAX for them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import jax
from jax.experimental import topologies

from benchmarks.compile_devices import _xla


class Gpu(NamedTuple):
    """The product name and architecture of a GPU, and its properties for XLA."""

    name: str
    architecture: str
    properties: str

    @property
    def target(self) -> str:
        """The name and the architecture."""
        return f"{self.name} ({self.architecture})"


_COMMON = """
  threads_per_block_limit: 1024 threads_per_core_limit: 2048 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
"""
H100 = Gpu(
    "NVIDIA H100 80GB HBM3",
    "sm_90",
    f"""
gpu_device_info {{
  {_COMMON} threads_per_warp: 32 core_count: 132 cuda_compute_capability {{ major: 9 }}
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 shared_memory_per_block_optin: 232448
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
}}
runtime_version {{ major: 13 }} platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 12 }}
device_description_str: "NVIDIA H100 80GB HBM3"
""",
)
MI300X = Gpu(
    "AMD Instinct MI300X",
    "gfx942",
    f"""
gpu_device_info {{
  {_COMMON} threads_per_warp: 64 core_count: 304
  rocm_compute_capability {{ gcn_arch_name: "gfx942:sramecc+:xnack-" }}
  shared_memory_per_block: 65536 shared_memory_per_core: 65536 shared_memory_per_block_optin: 65536
  memory_bandwidth: 5300000000000 l2_cache_size: 4194304 clock_rate_ghz: 2.1 device_memory_size: 206141652992
}}
platform_name: "ROCM" device_description_str: "AMD Instinct MI300X"
""",
)


def device(platform: str, gpu: Gpu) -> Any:
    """The device of JAX for a GPU, for a process that has not used JAX yet."""
    os.environ["XLA_FLAGS"] = f"--xla_gpu_autotune_level=0 --xla_dump_to={_xla.DUMP} --xla_dump_hlo_as_text=true"
    jax.devices()  # registers the plug-ins
    return topologies.get_topology_desc(platform, platform, target_config=gpu.properties, topology="1x1x1").devices[0]
