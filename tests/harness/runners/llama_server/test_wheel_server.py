"""`draftmap-server` serves with the engine of a wheel, and has every flag that we call it with."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.campaign.model import ArmPlan
from harness.runners.llama_server.abilities import Abilities, read_help
from harness.runners.llama_server.argv import arguments
from harness.runners.llama_server.binary import read_devices, read_version
from planner.engine_commands import default_method, drafting, load_words
from planner.model import LayerPlacement, Setting
from schemas.vocabulary import METHODS
from tests.harness.campaigns import BASELINE, campaign

MODULE = "harness.runners.llama_server.wheel_server"
ROOT = Path(__file__).parents[4]
# The library of the wheel for each of the other systems, and the tag by which pip fetches it.
OTHER_SYSTEMS = {
    "macosx_14_0_arm64": "xllamacpp/xllamacpp.abi3.so",
    "win_amd64": "xllamacpp/xllamacpp.pyd",
}
KINDS = [
    kind
    for kind, entry in METHODS.items()
    if "llama-server" in entry.runners and entry.llama_cpp and not entry.llama_cpp.forced
]


def output(*arguments: str) -> str:
    pytest.importorskip("xllamacpp", reason="no wheel with an embedded server here")
    command = [sys.executable, "-m", MODULE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def abilities() -> Abilities:
    return read_help(output("--help"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_flag_that_a_run_uses_is_in_its_help(abilities: Abilities, kind: str) -> None:
    method = default_method(kind)
    drafted = method if METHODS[kind].draft == "none" else replace(method, draft="draft")
    arm = ArmPlan(id="arm", role="speculation", method=drafted, baseline="baseline")

    argv = arguments(arm, campaign(), abilities=abilities, port=8123)

    assert {word for word in argv if word.startswith("-")} <= abilities.flags


def test_every_flag_that_a_plan_prints_is_in_its_help(abilities: Abilities) -> None:
    setting = Setting(slots=2, unified=True, ubatch=4096, kv_k="q8_0")
    words = load_words(setting, LayerPlacement(layers=20, cpu_experts=5), fit="on")
    words += ["-m", "-hf", "-md", "-hfd", "--no-warmup", "-lv"]
    for kind in KINDS:
        words += drafting(default_method(kind)) or []

    assert {word for word in words if word.startswith("-")} <= abilities.flags


def test_the_baseline_of_an_axis_can_be_set(abilities: Abilities) -> None:
    argv = arguments(BASELINE, campaign(), abilities=abilities, port=8123)

    assert {"-fa", "-ctk", "-ctv", "--fit", "--cache-ram", "--metrics", "-lv"} <= {*argv}


def test_the_build_is_the_last_number_of_the_wheels_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = [each for each in project["optional-dependencies"]["server"] if "xllamacpp" in each]

    assert {each.partition(";")[0] for each in pinned} == {"xllamacpp==2026.10.11549"}
    assert read_version(output("--version")) == ("11549", None, 11549)


def test_a_list_of_devices_without_the_cpu_is_read_like_a_stock_servers() -> None:
    assert output("--list-devices").startswith("Available devices:\n")
    assert all(each.memory_total_mib for each in read_devices(output("--list-devices")))


def test_a_model_that_cannot_be_loaded_ends_in_a_line(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="no wheel with an embedded server here")
    command = [sys.executable, "-m", MODULE, "-m", str(tmp_path / "none.gguf"), "--port", "0"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert any(line.startswith("error: ") for line in done.stderr.splitlines())
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("platform", OTHER_SYSTEMS)
def test_the_wheel_of_another_system_has_the_library(platform: str, tmp_path: Path) -> None:
    fetch = ("download", "--quiet", "--no-deps", "--only-binary", ":all:", "--platform", platform)
    requirement = "xllamacpp==2026.10.11549"
    done = subprocess.run(
        [sys.executable, "-m", "pip", *fetch, "--dest", str(tmp_path), requirement],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no network: {done.stderr.splitlines()[-1:]}")

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        names = set(archive.namelist())

    assert {OTHER_SYSTEMS[platform], "xllamacpp/__init__.py"} <= names
