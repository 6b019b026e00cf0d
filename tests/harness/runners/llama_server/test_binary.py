"""A binary describes itself, and only public parts of its command line are shown."""

from harness.runners.llama_server.binary import read_devices, read_version
from harness.runners.variables import variables

DEVICES = """\
Available devices:
  Vulkan0: NVIDIA GeForce RTX 4060 Laptop GPU (8188 MiB, 7710 MiB free)
  CUDA1: NVIDIA H200 (142000 MiB)
"""


def test_a_release_has_a_number_and_a_commit() -> None:
    text = "version: 10434 (0c1e57098)\nbuilt with GNU 13.3.0 for Linux x86_64\n"

    assert read_version(text) == ("10434", "0c1e57098", 10434)


def test_a_build_outside_the_repository_is_called_by_its_commit() -> None:
    assert read_version("version: 1 (49bfdde)\n") == ("49bfdde", "49bfdde", None)


def test_a_program_without_a_version_output_has_no_version() -> None:
    assert read_version("hello\n") == ("unknown", None, None)


def test_devices_are_read_with_their_memory() -> None:
    devices = read_devices(DEVICES)

    assert [(each.name, each.memory_total_mib) for each in devices] == [
        ("Vulkan0", 8188),
        ("CUDA1", 142000),
    ]
    assert devices[0].description == "NVIDIA GeForce RTX 4060 Laptop GPU"


def test_variables_that_change_engines_are_recorded_and_secrets_are_not() -> None:
    environment = {
        "GGML_VK_VISIBLE_DEVICES": "0",
        "LLAMA_API_KEY": "abc",
        "LLAMA_ARG_THREADS": "4",
        "CUDA_VISIBLE_DEVICES": "/some/path",
        "HOME": "x",
    }

    assert [(each.name, each.value) for each in variables(environment)] == [
        ("GGML_VK_VISIBLE_DEVICES", "0")
    ]
