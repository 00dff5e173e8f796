"""What the CUDA driver says of the current device."""

import ctypes
from typing import Any

import torch

__all__ = ["get_device_properties"]

# Attributes of a device by their number in the driver's interface (CUdevice_attribute).
_ATTRIBUTES = {
    "gpu_max_threads_per_block": 1,
    "gpu_smem_bytes_per_block": 8,
    "gpu_regs_per_block": 12,
    "gpu_clock_rate_khz": 13,
    "gpu_sm_count": 16,
    "gpu_mem_clock_khz": 36,
    "gpu_mem_bus_width": 37,
    "gpu_l2_bytes": 38,
    "gpu_max_threads_per_sm": 39,
    "gpu_compute_capability_major": 75,
    "gpu_compute_capability_minor": 76,
}


def get_device_properties() -> dict[str, Any]:
    """Name, compute capability, memory, caches, clocks and peak bandwidth of the current CUDA device, read from its driver.

    OSError where the driver's library cannot be loaded; RuntimeError naming a driver call that fails.
    """
    driver = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments: Any) -> None:
        status = getattr(driver, name)(*arguments)
        if status != 0:
            raise RuntimeError(
                f"get_device_properties: the CUDA driver must answer: {name} returned {status}; check the driver's installation"
            )

    call("cuInit", 0)
    device = ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(device), torch.cuda.current_device())
    name = ctypes.create_string_buffer(256)
    call("cuDeviceGetName", name, len(name), device)
    memory = ctypes.c_size_t()
    call("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
    properties: dict[str, Any] = {
        "gpu_name": name.value.decode(),
        "gpu_gmem_bytes": memory.value,
    }
    for key, attribute in _ATTRIBUTES.items():
        value = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        properties[key] = value.value
    # Two transfers a clock; bits to bytes, kHz to GHz.
    properties["gpu_peak_bandwidth_gbps"] = (
        2 * properties["gpu_mem_bus_width"] * properties["gpu_mem_clock_khz"] / 8e6
    )
    return properties
