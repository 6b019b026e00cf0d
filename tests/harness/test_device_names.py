"""A result is filed under the card that ran, by the name that a person gives it, or asks for it."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from estimates.identity import identify
from harness.errors import BadInputError
from harness.runners.llama_server.binary import read_devices
from harness.runners.openai.device import check_options, computed_on
from harness.runners.openai.endpoints import Endpoint, parse
from harness.runners.openai.identity import EngineName, ServerIdentity
from harness.runners.options import ConnectionOptions
from harness.runners.placement import backend_named
from schemas.submission import DeviceMemory, Engine, Submission
from tests.harness.rigs import LOST, Rig, Slot, capture
from tests.processes import needs_colons
from tests.samples import sample

pytestmark = needs_colons

UHD = Slot("0000:00:02.0", "intel", "AlderLake-S GT1 [UHD Graphics 770]")
IRIS = Slot("0000:00:02.0", "intel", "Raptor Lake-P [Iris Xe Graphics]")
NAVI_31 = "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]"
XTX = Slot("0000:03:00.0", "amd", NAVI_31, 24560)
RAPHAEL = Slot("0000:c4:00.0", "amd", "Raphael", 512)
A770 = Slot("0000:03:00.0", "intel", "DG2 [Arc A770]")
RTX_4090 = "NVIDIA GeForce RTX 4090, 24564, 580.95.05, 4, 16, 450.00, 450.00, Disabled"
A100 = "NVIDIA A100-SXM4-40GB, 40960, 580.95.05, 4, 16, 400.00, 400.00, Disabled"
MIG = "| MIG devices:                                                            |"

DESKTOP = Rig(slots=(UHD, XTX))
RAPHAELS = Rig(slots=(XTX, RAPHAEL))
LAPTOP = Rig(nvidia=capture("nvidia_cards_rtx4060_laptop.txt"), slots=(IRIS,))
PAIR = Rig(nvidia=capture("nvidia_cards_two_gpus.txt"))
APU = Rig(slots=(Slot("0000:c4:00.0", "amd", "Phoenix1", 512),))
SLICED = Rig(nvidia=A100, banner=MIG)
CONTAINER = Rig()
MIXED = Rig(nvidia=RTX_4090, slots=(XTX,))
ARC = Rig(slots=(UHD, A770))
MAC = Rig(mac=capture("system_profiler_m3.json"))
INTEL_MAC = Rig(mac=capture("system_profiler_intel_mac.json"))
WINDOWS = Rig(
    nvidia="NVIDIA GeForce RTX 4070 Laptop GPU, 8188, 581.29, 4, 8, [N/A], 115.00, Enabled",
    windows=capture("windows_cim.json"),
)
# One card has fallen off the bus; the other one goes on.
LOST_ONE = Rig(nvidia=f"{LOST}\n{RTX_4090}")
LOST_ALL = Rig(nvidia=f"NVIDIA GeForce RTX 3090, {LOST.removeprefix('[GPU is lost], ')}")


@dataclass(frozen=True)
class Listed:
    """A row: what llama.cpp lists on a machine, and the card's name; MiB in use by device."""

    rig: Rig
    devices: str
    name: str
    in_use: tuple[tuple[str, int], ...] = ()


LISTED = {
    "two vendors, ROCm": Listed(
        DESKTOP, "ROCm0: AMD Radeon RX 7900 XTX (24560 MiB, 24500 MiB free)", "RX 7900 XTX 24 GB"
    ),
    "two vendors, Vulkan lists both": Listed(
        DESKTOP,
        "Vulkan0: Intel(R) UHD Graphics 770 (ADL-S GT1) (48012 MiB, 48012 MiB free)\n"
        "Vulkan1: AMD Radeon RX 7900 XTX (RADV NAVI31) (24560 MiB, 24000 MiB free)",
        "RX 7900 XTX 24 GB",
    ),
    "the processor's graphics by --device": Listed(
        DESKTOP,
        "Vulkan0: Intel(R) UHD Graphics 770 (ADL-S GT1) (48012 MiB, 48012 MiB free)\n"
        "Vulkan1: AMD Radeon RX 7900 XTX (RADV NAVI31) (24560 MiB, 24000 MiB free)",
        "UHD 770",
        in_use=(("Vulkan0", 4700), ("Vulkan1", 3), ("CPU", 300)),
    ),
    "ROCm without a model's name": Listed(
        RAPHAELS, "ROCm0: AMD Radeon Graphics (24560 MiB, 24500 MiB free)", "RX 7900 XTX 24 GB"
    ),
    "ROCm lists the processor's graphics": Listed(
        RAPHAELS,
        "ROCm0: AMD Radeon Graphics (15800 MiB, 15000 MiB free)\n"
        "ROCm1: AMD Radeon RX 7900 XTX (24560 MiB, 24500 MiB free)",
        "RX 7900 XTX 24 GB",
    ),
    "ROCm uses both": Listed(
        RAPHAELS,
        "ROCm0: AMD Radeon RX 7900 XTX (24560 MiB, 24500 MiB free)\n"
        "ROCm1: AMD Radeon Graphics (15800 MiB, 15000 MiB free)",
        "RX 7900 XTX + Raphael 24 GB",
        in_use=(("ROCm0", 6000), ("ROCm1", 4000)),
    ),
    "a laptop, Vulkan": Listed(
        LAPTOP,
        "Vulkan0: Intel(R) Iris(R) Xe Graphics (RPL-P) (15700 MiB, 15700 MiB free)\n"
        "Vulkan1: NVIDIA GeForce RTX 4060 Laptop GPU (8188 MiB, 7900 MiB free)",
        "RTX 4060 Laptop 8 GB",
    ),
    "a laptop on Windows": Listed(
        WINDOWS,
        "Vulkan0: AMD Radeon 610M (16000 MiB, 15000 MiB free)\n"
        "Vulkan1: NVIDIA GeForce RTX 4070 Laptop GPU (8188 MiB, 7900 MiB free)",
        "RTX 4070 Laptop 8 GB",
    ),
    "an APU": Listed(
        APU, "Vulkan0: AMD Radeon 780M (RADV PHOENIX) (47000 MiB, 46000 MiB free)", "Radeon 780M"
    ),
    # 24576 + 11264 = 35840 MiB
    "two cards": Listed(
        PAIR,
        "CUDA0: NVIDIA GeForce RTX 3090 (24126 MiB, 23800 MiB free)\n"
        "CUDA1: NVIDIA GeForce GTX 1080 Ti (11162 MiB, 11000 MiB free)",
        "RTX 3090 + GTX 1080 Ti 35 GB",
    ),
    "two cards, CUDA counts the other way round": Listed(
        PAIR,
        "CUDA0: NVIDIA GeForce GTX 1080 Ti (11162 MiB, 11000 MiB free)\n"
        "CUDA1: NVIDIA GeForce RTX 3090 (24126 MiB, 23800 MiB free)",
        "RTX 3090 + GTX 1080 Ti 35 GB",
    ),
    "two cards, one in use": Listed(
        PAIR,
        "CUDA0: NVIDIA GeForce RTX 3090 (24126 MiB, 23800 MiB free)\n"
        "CUDA1: NVIDIA GeForce GTX 1080 Ti (11162 MiB, 11000 MiB free)",
        "RTX 3090 24 GB",
        in_use=(("CUDA0", 5200), ("CUDA1", 120)),
    ),
    # 4864 MiB are 4.75 GiB
    "a slice": Listed(
        SLICED,
        "CUDA0: NVIDIA A100-SXM4-40GB MIG 1g.5gb (4864 MiB, 4800 MiB free)",
        "A100-SXM4-40GB MIG 1g.5gb 5 GB",
    ),
    "a slice whose table is not seen": Listed(
        Rig(nvidia=A100),
        "CUDA0: NVIDIA A100-SXM4-40GB MIG 1g.5gb (4864 MiB, 4800 MiB free)",
        "A100-SXM4-40GB MIG 1g.5gb 5 GB",
    ),
    "a container that shows no card": Listed(
        CONTAINER, "CUDA0: NVIDIA GeForce RTX 4090 (24080 MiB, 23600 MiB free)", "RTX 4090 24 GB"
    ),
    "WSL with a Radeon": Listed(
        CONTAINER, "ROCm0: AMD Radeon RX 7800 XT (16176 MiB, 16000 MiB free)", "RX 7800 XT 16 GB"
    ),
    "a lost card beside a good one": Listed(
        LOST_ONE, "CUDA0: NVIDIA GeForce RTX 4090 (24080 MiB, 23600 MiB free)", "RTX 4090 24 GB"
    ),
    "Arc, SYCL": Listed(
        ARC, "SYCL0: Intel(R) Arc(TM) A770 Graphics (15473 MiB, 15473 MiB free)", "Arc A770"
    ),
    "Arc, Vulkan": Listed(
        ARC,
        "Vulkan0: Intel(R) Arc(tm) A770 Graphics (DG2) (16256 MiB, 16000 MiB free)\n"
        "Vulkan1: Intel(R) UHD Graphics 770 (ADL-S GT1) (48012 MiB, 48012 MiB free)",
        "Arc A770",
    ),
    "Apple": Listed(MAC, "MTL0: Apple M3 Pro (12288 MiB, 12288 MiB free)", "Apple M3 Pro"),
    "an Intel Mac": Listed(
        INTEL_MAC, "MTL0: AMD Radeon Pro 5500M (8176 MiB, 8000 MiB free)", "Radeon Pro 5500M 8 GB"
    ),
    "a server that sees nothing": Listed(LAPTOP, "", "Ryzen 7 7845HS 16 threads"),
}


@dataclass(frozen=True)
class Asked:
    """A row: a server that lists nothing. `name` is the card's, or `None` where it asks.

    `shows` are words of the question.
    """

    rig: Rig
    name: str | None
    shows: tuple[str, ...] = ()
    engine: EngineName = "vLLM"
    version: str | None = "0.11.0+cu129"
    backend: str | None = None
    names: tuple[str, ...] = ()
    command: str | None = None
    log: str = ""


USED = (
    "llama_model_load_from_file_impl: using device CUDA1 (NVIDIA GeForce GTX 1080 Ti) "
    "(0000:02:00.0) - 11000 MiB free"
)
ASKED = {
    "a laptop, vLLM": Asked(LAPTOP, "RTX 4060 Laptop 8 GB"),
    "a laptop, LM Studio": Asked(LAPTOP, "RTX 4060 Laptop 8 GB", engine="LM Studio", version=None),
    "a laptop, Ollama on Windows": Asked(
        WINDOWS, "RTX 4070 Laptop 8 GB", engine="Ollama", version="0.12.3"
    ),
    "two vendors, a build for ROCm": Asked(DESKTOP, "RX 7900 XTX 24 GB", version="0.9.1+rocm631"),
    "ROCm names": Asked(
        Rig(slots=(Slot("0000:03:00.0", "amd", "Navi 33 [Radeon RX 7600/7600 XT]", 8176),)),
        "RX 7600 8 GB",
        version="0.9.1+rocm631",
    ),
    "two discrete vendors": Asked(
        MIXED,
        None,
        ("NVIDIA GeForce RTX 4090 24 GB, AMD Radeon RX 7900 XTX 24 GB",),
        engine="LM Studio",
        version=None,
    ),
    "two discrete vendors, CUDA": Asked(MIXED, "RTX 4090 24 GB"),
    "two discrete vendors, Vulkan": Asked(MIXED, None, ("RTX 4090",), backend="vulkan"),
    "two cards": Asked(
        PAIR, None, ("NVIDIA GeForce RTX 3090 24 GB, NVIDIA GeForce GTX 1080 Ti 11 GB",)
    ),
    "two cards, one named": Asked(PAIR, "GTX 1080 Ti 11 GB", names=("1080 Ti",)),
    "two cards, both named": Asked(
        PAIR, "RTX 3090 + GTX 1080 Ti 35 GB", names=("GTX 1080 Ti", "RTX 3090")
    ),
    "two cards, one visible": Asked(
        PAIR, "GTX 1080 Ti 11 GB", command="env CUDA_VISIBLE_DEVICES=1 vllm serve M --port {port}"
    ),
    "two cards, one visible by its serial": Asked(
        PAIR, "RTX 3090 24 GB", command="/usr/bin/env A=b CUDA_VISIBLE_DEVICES=GPU-0a x {port}"
    ),
    "two cards, both visible": Asked(
        PAIR, None, ("GTX 1080 Ti",), command="env CUDA_VISIBLE_DEVICES=0,1 x {port}"
    ),
    "two cards, the log names one": Asked(
        PAIR, "GTX 1080 Ti 11 GB", command="llama-server --port {port}", log=USED
    ),
    "two Radeons, one visible": Asked(
        RAPHAELS,
        "RX 7900 XTX 24 GB",
        version="1+rocm",
        command="env HIP_VISIBLE_DEVICES=0 {port}",
    ),
    "the processor's graphics visible": Asked(
        RAPHAELS, "Raphael", version="9+rocm", command="env ROCR_VISIBLE_DEVICES=1 x {port}"
    ),
    # oneAPI counts the card first.
    "Intel, the second visible": Asked(
        ARC, "UHD 770", backend="sycl", command="env ONEAPI_DEVICE_SELECTOR=level_zero:1 x {port}"
    ),
    "Intel, all visible": Asked(
        ARC,
        "Arc A770",
        backend="sycl",
        command="env ONEAPI_DEVICE_SELECTOR=level_zero:gpu {port}",
    ),
    "a slice": Asked(SLICED, None, ("shows no card", "--device-name")),
    "a slice that is named": Asked(SLICED, "A100 MIG 1g.5gb 5 GB", names=("A100 MIG 1g.5gb 5 GB",)),
    "an APU": Asked(
        APU, None, ("AMD Phoenix1", "--backend cpu"), engine="Ollama", version="0.12.3"
    ),
    "an APU whose name is given": Asked(APU, "Radeon 780M", names=("Radeon 780M",), version=None),
    "a container without a GPU": Asked(CONTAINER, None, ("shows no card",)),
    "a container, a server that says nothing": Asked(
        CONTAINER, None, ("shows no card", "--backend cpu"), version="0.11.0"
    ),
    "a container, the card is named": Asked(
        CONTAINER, "RTX 4090 24 GB", names=("NVIDIA GeForce RTX 4090 24 GB",)
    ),
    "a server elsewhere": Asked(Rig(slots=(IRIS,)), None, ("shows Intel Iris Xe Graphics",)),
    "a lost card": Asked(LOST_ALL, None, ("shows no card",)),
    "a lost card beside a good one": Asked(LOST_ONE, "RTX 4090 24 GB"),
    "Apple": Asked(MAC, "Apple M3 Pro", engine="Ollama", version="0.12.3"),
    "the server says the processor": Asked(LAPTOP, "Ryzen 7 7845HS 16 threads", version="1+cpu"),
    "a person says the processor": Asked(
        CONTAINER, "Ryzen 7 7845HS 16 threads", version=None, backend="cpu"
    ),
}

NAMED = {title: row for title, row in ASKED.items() if row.name is not None}
UNSURE = {title: row for title, row in ASKED.items() if row.name is None}


def filed(rig: Rig, engine: Engine, folder: Path) -> Submission:
    """A result of an engine on a machine."""
    plain = sample(tasks=("code",), prompts_per_task=1, blocks=1, backend=engine.backend)
    return replace(plain, machine=rig.machine(folder, {}), engine=engine)


@pytest.mark.parametrize("row", LISTED.values(), ids=LISTED)
def test_a_listed_device_has_a_persons_name(row: Listed, tmp_path: Path) -> None:
    devices = read_devices(row.devices)
    backend = backend_named(devices, gpu_layers=-1)
    engine = Engine(runner="llama-server", name="llama.cpp", backend=backend, devices=devices)

    result = filed(row.rig, engine, tmp_path)
    in_use = tuple(DeviceMemory(device=name, peak_mib=mib) for name, mib in row.in_use)
    arms = tuple(replace(arm, peak_memory=in_use or None) for arm in result.arms)

    assert identify(replace(result, arms=arms)).device_label == row.name


def where(row: Asked, folder: Path) -> Engine:
    """The engine of a row as it is recorded. Raises `BadInputError` where it asks."""
    endpoint: Endpoint = parse("http://127.0.0.1:1", option="--base-url")
    if row.command is not None:
        endpoint = tuple(row.command.split())
    options = ConnectionOptions(backend=row.backend, device_names=row.names)
    check_options(options)
    backend, devices = computed_on(
        ServerIdentity(name=row.engine, models=(), version=row.version),
        options,
        endpoint,
        log=row.log,
        describe=lambda environment: row.rig.machine(folder, environment),
    )
    return Engine(runner="openai", name=row.engine, backend=backend, devices=devices)


@pytest.mark.parametrize("row", NAMED.values(), ids=NAMED)
def test_a_server_that_lists_nothing_has_the_card_that_must_have_run(
    row: Asked, tmp_path: Path
) -> None:
    assert identify(filed(row.rig, where(row, tmp_path), tmp_path)).device_label == row.name


@pytest.mark.parametrize("row", UNSURE.values(), ids=UNSURE)
def test_where_several_may_have_run_the_person_is_asked(row: Asked, tmp_path: Path) -> None:
    with pytest.raises(BadInputError) as asked:
        where(row, tmp_path)

    question = str(asked.value)
    assert all(words in question for words in (*row.shows, "--device-name"))
    assert "\n" not in question


def test_a_card_that_nobody_names_is_no_processor(tmp_path: Path) -> None:
    engine = Engine(runner="imported", name="vLLM", backend="cuda")

    named = identify(filed(Rig(slots=(UHD,)), engine, tmp_path))

    assert (named.device_label, named.device_kind) == ("unknown card", "gpu")


@pytest.mark.parametrize("name", ["", "<b>", "/home/ada/card", "a" * 200, "key=sk-123", "@host"])
def test_a_card_is_named_in_the_form_of_a_name(name: str) -> None:
    with pytest.raises(BadInputError, match="--device-name is the name of a card"):
        check_options(ConnectionOptions(device_names=(name,)))
