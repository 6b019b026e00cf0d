"""A result is filed under the card that ran or that the user names; else the name is required."""

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pytest

from estimates.identity import identify
from harness.errors import BadInputError
from harness.openai.endpoints import Endpoint, parse
from harness.openai.reported_device import check_options, computed_on
from harness.openai.server_identity import EngineName, ServerIdentity
from harness.runners.device_placement import backend_named
from harness.runners.llama_server.binary import read_devices
from harness.runners.options import ConnectionOptions
from schemas.submission import DeviceMemory, Engine, Submission
from tests.harness.rigs import LOST, EngineRig, Slot, capture
from tests.processes import needs_colons
from tests.samples import sample

pytestmark = needs_colons

UHD = Slot("0000:00:02.0", "intel", "AlderLake-S GT1 [UHD Graphics 770]")
IRIS = Slot("0000:00:02.0", "intel", "Raptor Lake-P [Iris Xe Graphics]")
NAVI_31 = "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]"
XTX = Slot("0000:03:00.0", "amd", NAVI_31, 24560)
RAPHAEL = Slot("0000:c4:00.0", "amd", "Raphael", 512)
NAVI_33 = Slot("0000:03:00.0", "amd", "Navi 33 [Radeon RX 7600/7600 XT]", 8176)
A770 = Slot("0000:03:00.0", "intel", "DG2 [Arc A770]")
RTX_4090 = "NVIDIA GeForce RTX 4090, 24564, 580.95.05, 4, 16, 450.00, 450.00, Disabled"
A100 = "NVIDIA A100-SXM4-40GB, 40960, 580.95.05, 4, 16, 400.00, 400.00, Disabled"
RTX_4070_LAPTOP = "NVIDIA GeForce RTX 4070 Laptop GPU, 8188, 581.29, 4, 8, [N/A], 115.00, Enabled"
MIG = "| MIG devices:                                                            |"

RIGS = {
    "DESKTOP": EngineRig(slots=(UHD, XTX)),
    "RAPHAELS": EngineRig(slots=(XTX, RAPHAEL)),
    "LAPTOP": EngineRig(nvidia=capture("nvidia_cards_rtx4060_laptop.txt"), slots=(IRIS,)),
    "PAIR": EngineRig(nvidia=capture("nvidia_cards_two_gpus.txt")),
    "APU": EngineRig(slots=(Slot("0000:c4:00.0", "amd", "Phoenix1", 512),)),
    "SLICED": EngineRig(nvidia=A100, banner=MIG),
    "SLICED WITHOUT TABLE": EngineRig(nvidia=A100),
    "CONTAINER": EngineRig(),
    "MIXED": EngineRig(nvidia=RTX_4090, slots=(XTX,)),
    "NAVI 33": EngineRig(slots=(NAVI_33,)),
    "UNLISTED": EngineRig(slots=(Slot("0000:03:00.0", "amd", "Device 7551", 16304),)),
    "ARC": EngineRig(slots=(UHD, A770)),
    "IRIS": EngineRig(slots=(IRIS,)),
    "MAC": EngineRig(mac=capture("system_profiler_m3.json")),
    "INTEL_MAC": EngineRig(mac=capture("system_profiler_intel_mac.json")),
    "WINDOWS": EngineRig(nvidia=RTX_4070_LAPTOP, windows=capture("windows_cim.json")),
    # One card has fallen off the bus; the other one still works.
    "LOST_ONE": EngineRig(nvidia=f"{LOST}\n{RTX_4090}"),
    "LOST_ALL": EngineRig(
        nvidia=f"NVIDIA GeForce RTX 3090, {LOST.removeprefix('[GPU is lost], ')}"
    ),
}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Devices that llama.cpp lists on a machine, the card's name, and MiB in use by device."""

    title: str
    rig: str
    devices: str
    name: str
    in_use: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AskedServer:
    """A server that lists no device. `name` is the card's, or `None` if the name is required.

    `shows` are words of the message. Without a `version` the server does not state one.
    """

    title: str
    rig: str
    name: str | None = None
    shows: tuple[str, ...] = ()
    engine: EngineName = "vLLM"
    version: str = "0.11.0+cu129"
    backend: str | None = None
    names: tuple[str, ...] = ()
    command: str | None = None
    log: str = ""


ROWS = tomllib.loads(Path("tests/data/device_names.toml").read_text("utf-8"))
LISTED = msgspec.convert(ROWS["listed"], list[Listed])
ASKED = msgspec.convert(ROWS["asked"], list[AskedServer])


def filed(rig: EngineRig, engine: Engine, folder: Path) -> Submission:
    """A result of an engine on a machine."""
    plain = sample(tasks=("code",), prompts_per_task=1, blocks=1, backend=engine.backend)
    return replace(plain, machine=rig.machine(folder, {}), engine=engine)


@pytest.mark.parametrize("row", LISTED, ids=lambda row: row.title)
def test_a_listed_device_has_a_persons_name(row: Listed, tmp_path: Path) -> None:
    devices = read_devices(row.devices)
    backend = backend_named(devices, gpu_layers=-1)
    engine = Engine(runner="llama-server", name="llama.cpp", backend=backend, devices=devices)

    result = filed(RIGS[row.rig], engine, tmp_path)
    in_use = tuple(DeviceMemory(device=name, peak_mib=mib) for name, mib in row.in_use.items())
    arms = tuple(replace(arm, peak_memory=in_use or None) for arm in result.arms)

    assert identify(replace(result, arms=arms)).device_label == row.name


def where(row: AskedServer, folder: Path) -> Engine:
    """The recorded engine of a row. Raises `BadInputError` if a name is required."""
    endpoint: Endpoint = parse("http://127.0.0.1:1", option="--base-url")
    if row.command is not None:
        endpoint = tuple(row.command.split())
    options = ConnectionOptions(backend=row.backend, device_names=row.names)
    check_options(options)
    backend, devices = computed_on(
        ServerIdentity(name=row.engine, models=(), version=row.version or None),
        options,
        endpoint,
        log=row.log,
        describe=lambda environment: RIGS[row.rig].machine(folder, environment),
    )
    return Engine(runner="openai", name=row.engine, backend=backend, devices=devices)


@pytest.mark.parametrize(
    "row", [row for row in ASKED if row.name is not None], ids=lambda row: row.title
)
def test_a_server_that_lists_nothing_has_the_card_that_must_have_run(
    row: AskedServer, tmp_path: Path
) -> None:
    assert identify(filed(RIGS[row.rig], where(row, tmp_path), tmp_path)).device_label == row.name


@pytest.mark.parametrize(
    "row", [row for row in ASKED if row.name is None], ids=lambda row: row.title
)
def test_an_ambiguous_device_is_asked_for(row: AskedServer, tmp_path: Path) -> None:
    with pytest.raises(BadInputError) as asked:
        where(row, tmp_path)

    question = str(asked.value)
    assert all(words in question for words in (*row.shows, "--device-name"))
    assert "\n" not in question


def test_an_unnamed_card_is_not_taken_for_a_processor(tmp_path: Path) -> None:
    engine = Engine(runner="imported", name="vLLM", backend="cuda")

    named = identify(filed(EngineRig(slots=(UHD,)), engine, tmp_path))

    assert (named.device_label, named.device_kind) == ("unknown card", "gpu")


@pytest.mark.parametrize("name", ["", "<b>", "/home/ada/card", "a" * 200, "key=sk-123", "@host"])
def test_a_card_is_named_in_the_form_of_a_name(name: str) -> None:
    with pytest.raises(BadInputError, match="--device-name takes the name of a card"):
        check_options(ConnectionOptions(device_names=(name,)))
