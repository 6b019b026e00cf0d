"""A device, a rig, a voter and a target have one name each, and different ones never share it."""

import re
from dataclasses import replace

import pytest

from estimates.gpu_names import short_name, vendor_of
from estimates.identity import identify
from schemas.codec import slug
from schemas.submission import Cpu, Device, Gpu, OperatingSystem, Submission
from tests.generated import VARIANTS
from tests.samples import sample

RTX_3060 = Gpu(name="NVIDIA GeForce RTX 3060", vendor="nvidia", vram_mib=12288)
RTX_3090 = Gpu(name="NVIDIA GeForce RTX 3090", vendor="nvidia", vram_mib=24576)
RTX_4090 = Gpu(name="NVIDIA GeForce RTX 4090", vendor="nvidia", vram_mib=24564)
UHD = Gpu(name="Intel(R) UHD Graphics 770", vendor="intel")

SHORT_NAMES = {
    "NVIDIA GeForce RTX 4060 Laptop GPU": "RTX 4060 Laptop",
    "NVIDIA GeForce RTX 5060 Ti": "RTX 5060 Ti",
    "NVIDIA(R) GeForce(TM) RTX 3090": "RTX 3090",
    "NVIDIA H100 80GB HBM3": "H100 80GB HBM3",
    "NVIDIA Jetson AGX Orin": "Jetson AGX Orin",
    "Orin (nvgpu)": "Orin (nvgpu)",
    "AMD Radeon RX 7900 XTX": "RX 7900 XTX",
    "AMD Radeon(TM) Graphics": "Radeon",
    "Intel(R) Arc(TM) A770 Graphics": "Arc A770",
    "Intel(R) UHD Graphics 770": "UHD 770",
    "Intel(R) Core(TM) i7-9700K CPU @ 3.60GHz": "Core i7-9700K",
    "Intel(R) Xeon(R) CPU @ 2.20GHz": "Xeon 2.20GHz",
    "AMD Ryzen 7 7840U w/ Radeon 780M Graphics": "Ryzen 7 7840U",
    "AMD EPYC 7B12 64-Core Processor": "EPYC 7B12",
    "Apple M2 Max": "Apple M2 Max",
    "Adreno (TM) 750": "Adreno 750",
    "摩尔线程 MTT S80": "摩尔线程 MTT S80",
    "Graphics": "Graphics",
}


def on(*gpus: Gpu, listed: tuple[str | None, ...] = (), backend: str = "cuda") -> Submission:
    """A result from a machine with these cards; `listed` are their names in the engine."""
    plain = sample(tasks=("code",), prompts_per_task=1, blocks=1, backend=backend)
    devices = tuple(
        Device(name=f"CUDA{number}", kind="gpu", description=words, memory_total_mib=24000)
        for number, words in enumerate(listed)
    )
    return replace(
        plain,
        machine=replace(plain.machine, gpus=gpus),
        engine=replace(plain.engine, devices=(*devices, Device(name="CPU", kind="cpu"))),
    )


@pytest.mark.parametrize(("marketing", "short"), SHORT_NAMES.items())
def test_display_names_drop_the_boilerplate(marketing: str, short: str) -> None:
    assert short_name(marketing) == short


def test_names_in_any_script_have_addresses_of_their_own() -> None:
    names = (
        *SHORT_NAMES.values(),
        *("摩尔线程 S80", "壁仞 BR100", "壁砺 BR100", "天数智芯 BI-V100", "天数智芯", "壁仞科技"),
        *("通义千问-7B", "百川-7B", "7B", "Café-7B", "Cafe-7B", "Модель-7B", "モデル-7B", "🦙-7B"),
    )

    addresses = [slug(name, limit=None) for name in names]

    assert len(set(addresses)) == len(names)
    assert all(address.isascii() for address in addresses)


@pytest.mark.parametrize(
    ("submission", "label", "device", "vram_gib"),
    [
        (on(RTX_3090, listed=(None,)), "RTX 3090 24 GB", "rtx-3090-24-gb", 24),
        (on(RTX_3090, RTX_3090), "2 × RTX 3090 24 GB", "2-x-rtx-3090-24-gb", 48),  # noqa: RUF001 - as printed
        (on(RTX_3090, RTX_3090, listed=(RTX_3090.name,)), "RTX 3090 24 GB", "rtx-3090-24-gb", 24),
        (on(RTX_3060, RTX_4090), "RTX 3060 + RTX 4090 36 GB", "rtx-3060-rtx-4090-36-gb", 36),
        (on(RTX_3060, RTX_4090, listed=(RTX_4090.name,)), "RTX 4090 24 GB", "rtx-4090-24-gb", 24),
        (on(RTX_4090, RTX_3060, listed=(RTX_4090.name,)), "RTX 4090 24 GB", "rtx-4090-24-gb", 24),
        (on(RTX_3060, RTX_4090, listed=(RTX_3060.name,)), "RTX 3060 12 GB", "rtx-3060-12-gb", 12),
        (on(RTX_4090, RTX_3060, listed=("CUDA device",)), "RTX 4090 24 GB", "rtx-4090-24-gb", 24),
        (
            on(UHD, RTX_4090, listed=("NVIDIA GeForce RTX 4090 (NVK AD102)",), backend="vulkan"),
            "RTX 4090 24 GB",
            "rtx-4090-24-gb",
            24,
        ),
        (on(UHD, backend="vulkan"), "UHD 770", "uhd-770", None),
        (on(listed=(RTX_4090.name,)), "RTX 4090 23 GB", "rtx-4090-23-gb", 23),
    ],
)
def test_the_device_is_what_the_engine_lists(
    submission: Submission, label: str, device: str, vram_gib: int | None
) -> None:
    named = identify(submission)

    assert (named.device_label, named.device, named.vram_gib) == (label, device, vram_gib)
    assert named.device_kind == "gpu"


def test_a_file_is_named_after_the_card_that_was_used() -> None:
    used = identify(on(RTX_3060, RTX_4090, listed=(RTX_4090.name,)))

    assert used.processor == "NVIDIA GeForce RTX 4090"
    assert used.vendor == "nvidia"
    assert identify(on(UHD, RTX_4090, listed=(RTX_4090.name,))).vendor == "nvidia"


def test_the_first_of_several_cards_names_the_file_and_the_vendor() -> None:
    both = identify(on(RTX_3060, RTX_4090))
    beside_integrated = identify(on(UHD, RTX_4090, backend="vulkan"))

    assert (both.processor, both.vendor) == ("NVIDIA GeForce RTX 3060", "nvidia")
    assert beside_integrated.processor == "NVIDIA GeForce RTX 4090"


def test_a_cpu_run_names_the_processor_and_its_threads() -> None:
    named = identify(on(RTX_4090, backend="cpu"))

    assert named.device_label == "Ryzen 7 7845HS 16 threads"
    assert (named.device, named.device_kind) == ("ryzen-7-7845hs-16-threads", "cpu")
    assert (named.vram_gib, named.vendor) == (None, "amd")


def test_a_machine_is_its_hardware_whichever_card_is_used() -> None:
    base = on(RTX_3060, RTX_4090)
    machine = replace(
        base.machine,
        os=OperatingSystem(family="linux"),
        cpu=Cpu(name="AMD Ryzen 7 7845HS", logical_cores=16),
        ram_mib=65536,
    )

    both = identify(replace(base, machine=machine))
    one = identify(
        replace(on(RTX_3060, RTX_4090, listed=(RTX_4090.name,)), machine=machine),
    )

    # printf 'linux|AMD Ryzen 7 7845HS|16|65536|NVIDIA GeForce RTX 3060|36852' | md5sum
    assert both.machine == one.machine == "14e7785b"
    assert both.voter == one.voter == "ada@14e7785b"
    assert both.rig != one.rig


def test_a_rig_is_a_machine_with_one_engine_build() -> None:
    first = on(RTX_4090)
    newer = replace(first, engine=replace(first.engine, build_number=9999))
    one, other = identify(first), identify(newer)

    assert one.machine == other.machine
    assert one.rig != other.rig
    assert other.rig_label == "RTX 4090 24 GB · cuda · llama.cpp b9999"


def test_an_address_is_place_and_setting() -> None:
    named = identify(on(RTX_4090))

    assert named.address_stem == "rtx-4090-24-gb-cuda-sample-7b-q4-k-m"
    assert [each.setting for each in named.settings] == [
        "no-speculation",
        "prompt-lookup-n4",
        "draft-model-n4-tiny-500m-q8-0",
    ]
    assert [each.draft_label for each in named.settings] == [None, None, "Tiny-500M Q8_0"]


def test_another_runner_is_part_of_the_address() -> None:
    base = on(RTX_4090)
    server = identify(replace(base, engine=replace(base.engine, runner="llama-server")))

    assert server.engine_label == "llama.cpp server"
    assert server.address_stem == "rtx-4090-24-gb-cuda-llama-cpp-server-sample-7b-q4-k-m"


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("Quadro RTX 8000", "nvidia"),
        ("AMD Radeon RX 7900 XTX", "amd"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "intel"),
        ("Apple M3 Max", "apple"),
        ("Qualcomm Adreno 750", "qualcomm"),
        ("摩尔线程 MTT S80", "other"),
        ("", "other"),
    ],
)
def test_a_vendor_is_known_by_the_marketing_name(name: str, vendor: str) -> None:
    assert vendor_of(name) == vendor


def _of(field: str, name: str) -> Submission:
    """A small result whose card, processor, target or quantisation has this name."""
    base = on(backend="cpu" if field == "cpus" else "vulkan")
    machine, target = base.machine, base.target
    match field:
        case "gpus":
            machine = replace(machine, gpus=(Gpu(name=name),))
        case "cpus":
            machine = replace(machine, cpu=Cpu(name=name))
        case "targets":
            target = replace(target, name=name)
        case _:
            target = replace(target, quantisation=name)
    return replace(base, machine=machine, target=target)


@pytest.mark.parametrize("field", ["gpus", "cpus", "targets", "quantisations"])
def test_no_two_real_names_share_an_address(field: str) -> None:
    named = [identify(_of(field, name)) for name in VARIANTS[field]]

    assert len({each.address_stem for each in named}) == len(VARIANTS[field])
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", each.address_stem) for each in named)


@pytest.mark.parametrize(
    ("backend", "listed", "kind"),
    [("npu", True, "cpu"), ("openvino", False, "cpu"), ("openvino", True, "gpu")],
)
def test_a_run_beside_an_unused_card_is_not_named_after_the_card(
    backend: str, *, listed: bool, kind: str
) -> None:
    words = (RTX_4090.name,) if listed else ()

    assert identify(on(RTX_4090, listed=words, backend=backend)).device_kind == kind


def test_unlisted_backends_are_distinguished_by_name() -> None:
    base = on(RTX_4090, backend="other")
    named = replace(base, engine=replace(base.engine, backend_name="qnn"))

    assert identify(base).address_stem == "rtx-4090-24-gb-other-sample-7b-q4-k-m"
    assert identify(named).address_stem == "rtx-4090-24-gb-qnn-sample-7b-q4-k-m"
