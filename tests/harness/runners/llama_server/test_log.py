"""A log gives the real placement of the layers."""

from harness.runners.llama_server import server_log
from schemas.submission import DeviceMemory

NO_GPU = """\
I load_tensors: loading model tensors, this can take a while... (mmap = true)
I load_tensors: offloading 29 repeating layers to GPU
I load_tensors: offloaded 31/31 layers to GPU
I load_tensors:   CPU_Mapped model buffer size =   256.63 MiB
I llama_kv_cache:        CPU KV buffer size =    22.50 MiB
I sched_reserve:        CPU compute buffer size =    14.51 MiB
"""
TWO_ON_A_CARD = """\
load_tensors: loading model tensors, this can take a while... (mmap = true)
load_tensors: offloaded 20/33 layers to GPU
load_tensors:        CUDA0 model buffer size =  3000.25 MiB
load_tensors:   CPU_Mapped model buffer size =  1500.00 MiB
llama_kv_cache:      CUDA0 KV buffer size =   200.00 MiB
load_tensors: loading model tensors, this can take a while... (mmap = true)
load_tensors: offloaded 25/25 layers to GPU
load_tensors:        CUDA0 model buffer size =   400.00 MiB
"""


def test_layers_are_not_on_a_gpu_that_is_not_there() -> None:
    assert server_log.resident_layers(NO_GPU) == (0, None)


def test_target_and_draft_are_distinguished() -> None:
    assert server_log.resident_layers(TWO_ON_A_CARD) == (20, 25)


def test_a_build_without_gpus_reports_no_layers_on_a_gpu() -> None:
    loading = "load_tensors: loading model tensors\n"
    text = f"{loading}load_tensors:   CPU_Mapped model buffer size = 9.0 MiB"

    assert server_log.resident_layers(text) == (0, None)


def test_a_silent_log_says_nothing_about_layers() -> None:
    assert server_log.resident_layers("listening\n") == (None, None)


def test_memory_is_summed_by_device() -> None:
    assert server_log.in_use(TWO_ON_A_CARD) == (
        DeviceMemory(device="CPU", peak_mib=1500),
        DeviceMemory(device="CUDA0", peak_mib=3600),
    )
    assert server_log.in_use(NO_GPU) == (DeviceMemory(device="CPU", peak_mib=294),)
