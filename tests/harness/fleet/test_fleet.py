"""Every run of a matrix is measured once, on a suitable device, even if a worker is killed."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

pytest.importorskip("distributed", reason="the extra `fleet` is not installed")

from distributed import Client
from distributed.security import Security

from harness.cli import app
from harness.errors import BadInputError
from harness.fleet.command import FleetOptions, WorkerOptions
from harness.fleet.connections import make_key, security
from harness.fleet.matrix import MatrixRun, read
from harness.fleet.owned_device import owned_device, owned_devices
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE
from schemas.contract import findings
from schemas.submission import Gpu
from tests.harness.openai.fake_server import serving
from tests.harness.test_options import not_in_help

ROOT = Path(__file__).parents[3]
KNOWN = {"blocks", "quick", "draft", "server-binary", "runner"}
MATRIX = """
targets = ["big", "owner/repo:Q4_K_M"]
methods = ["prompt-lookup", ["draft-model:n_max=3", "draft-model:n_max=6"]]
backends = ["cpu", "cuda"]
options = { blocks = 3, quick = true }
target.big = { draft = "small", memory-gib = 20 }
backend.cuda = { runner = "llama-server", server-binary = "/opt/llama server" }
"""


@pytest.mark.parametrize(
    ("kind", "command"), [(FleetOptions, "fleet run"), (WorkerOptions, "fleet worker")]
)
def test_the_help_names_every_option(kind: type, command: str) -> None:
    assert not_in_help(kind, command) == set()


def parsed(folder: Path, text: str) -> tuple[MatrixRun, ...]:
    path = folder / "matrix.toml"
    path.write_text(text, "utf-8")
    return read(path, KNOWN)


def test_a_matrix_is_every_combination(tmp_path: Path) -> None:
    runs = parsed(tmp_path, MATRIX)

    assert len(runs) == len({run.id for run in runs}) == 8
    assert ["backend-cuda" in run.needs for run in runs] == [False, True] * 4
    assert " ".join(runs[3].arguments) == (
        "--target big --method draft-model:n_max=3 --method draft-model:n_max=6 --blocks 3 --quick "
        "--draft small --runner llama-server --server-binary /opt/llama server"
    )
    needs = dict(runs[3].needs)
    assert needs.pop("backend-cuda") == needs.pop("device") == 1
    assert needs.pop("memory-gib") == 20
    assert [name.partition("-")[0] for name in needs] == ["draftmap"]  # of the same version


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("target.bog = {}", "options for bog, but no list in the matrix contains that name"),
        ("options.block = 3", r"block: not an option for cells. Did you mean 'blocks'"),
        ("options.output = 3", "output: not an option for cells"),
        ("options.blocks = {}", r"got `object` - at `\$.options"),
        ('backends = ["cuba"]', "Invalid enum value 'cuba'"),
        ("targets = []", "Expected `array` of length >= 1"),
        ("attempts = 0", "Expected `int` >= 1"),
        ("colour = 1", "unknown field `colour`"),
        ("targets = [", "matrix.toml: Invalid value"),
    ],
)
def test_a_wrong_matrix_is_refused(tmp_path: Path, line: str, message: str) -> None:
    key = line.split(maxsplit=1)[0].split(".", maxsplit=1)[0]
    rest = "" if key == "targets" else 'targets = ["big"]\n'

    with pytest.raises(BadInputError, match=message):
        parsed(tmp_path, f"{rest}{line}\n")


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    missing = r"no fleet\.key and fleet\.pem in .*; copy the folder from"
    with pytest.raises(BadInputError, match=missing):
        security(tmp_path)

    make_key(tmp_path / "keys")
    first = (tmp_path / "keys" / "fleet.key").read_bytes()
    make_key(tmp_path / "keys")

    assert (tmp_path / "keys" / "fleet.key").read_bytes() == first
    assert security(tmp_path / "keys").require_encryption
    if os.name == "posix":
        (tmp_path / "keys" / "fleet.key").chmod(0o644)
        with pytest.raises(BadInputError, match="is readable by other users"):
            security(tmp_path / "keys")


@pytest.mark.parametrize(
    ("name", "cuda", "vulkan", "own"),
    [
        ("1", "1", "1", "1"),
        ("cuda:0", "0", "", "0"),
        ("vulkan:1", "", "1", "1"),
        ("cpu", "", "", "cpu"),
    ],
)
def test_the_runs_of_a_worker_see_its_own_device_only(
    name: str, cuda: str, vulkan: str, own: str
) -> None:
    found = owned_device(name).environment

    assert (found["CUDA_VISIBLE_DEVICES"], found["GGML_VK_VISIBLE_DEVICES"]) == (cuda, vulkan)
    assert (found["CUDA_DEVICE_ORDER"], found[OWN_DEVICE]) == ("PCI_BUS_ID", own)


def test_a_worker_offers_the_properties_of_its_device() -> None:
    found = owned_device("cpu", "desk")

    assert found.name == "desk:cpu"
    assert found.resources["memory-gib"] > 0
    assert {"device", "rig-desk", "backend-cpu"} < set(found.resources)
    with pytest.raises(BadInputError, match="--device gpu: give cpu, a number, or cuda:0"):
        owned_device("gpu")


def test_a_worker_of_slurm_owns_the_card_that_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")

    found = owned_device(None, "node")

    assert (found.name, dict(found.environment)) == ("node:3", {OWN_DEVICE: "3"})


def test_a_machine_alone_measures_with_all_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    card = Gpu(name="RTX 3060", vendor="nvidia", vram_mib=12288)
    rig = replace(machine(), gpus=(card, card))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("harness.fleet.owned_device.machine", lambda: rig)

    assert [each.name[-2:] for each in owned_devices((), alone=True)] == [":0", ":1"]
    assert [each.name[-2:] for each in owned_devices(("1",), alone=True)] == [":1"]
    assert owned_devices((), alone=False) == []
    monkeypatch.setattr("harness.fleet.owned_device.machine", lambda: replace(rig, gpus=()))
    assert [each.name[-4:] for each in owned_devices((), alone=True)] == [":cpu"]


def test_a_backend_that_no_local_device_offers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text('targets = ["a"]\nbackends = ["cuda"]\n', "utf-8")

    for more in ((), ("--dry-run",)):
        words = ["fleet", str(tmp_path / "matrix.toml"), "--output", str(tmp_path / "o"), *more]
        done = CliRunner().invoke(app, [*words, "--device", "cpu"])

        assert done.exit_code == BadInputError.exit_code
        assert "needs backend-cuda, which no device of this machine offers" in done.stderr
        assert not (tmp_path / "o").exists()


def test_a_dry_run_lists_the_cells_that_are_not_done(tmp_path: Path) -> None:
    first, second = parsed(tmp_path, 'targets = ["nowhere.gguf", "elsewhere.gguf"]\n')
    (tmp_path / f"{first.id}.json").write_text("{}")

    words = ["fleet", str(tmp_path / "matrix.toml"), "--dry-run", "--output", str(tmp_path)]

    done = CliRunner().invoke(app, words)
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)

    why = "elsewhere.gguf does not exist; check the path, or name a preset or owner/repo:quant"
    assert done.exit_code == 3, done.stderr
    assert done.stdout == f"{second.id}  cannot run: {why}\n"
    assert found["expected_s"] == {second.id: None}
    assert found["failed"] == {second.id: why}


MODELS = [f"Model-{number}-7B" for number in range(5)]


class RunningFleet:
    """The command in a folder with a matrix of five models of a server and a bad one."""

    def __init__(self, folder: Path, *urls: str) -> None:
        self.folder = folder
        options = dict(zip(("base-url", "spec-base-url"), urls, strict=False))
        options |= {"runner": "openai", "draft": "tiny:Q4_0", "tasks": "code", "max-tokens": "8"}
        rows = [f'options.{name} = "{value}"' for name, value in options.items()]
        rows += [f'target.{name}.served-model = "{name}"' for name in MODELS]
        lists = f'targets = {json.dumps([*MODELS, "bad"])}\nmethods = ["draft-model:n_max=3"]\n'
        (folder / "matrix.toml").write_text(lists + "\n".join(("attempts = 2", *rows)), "utf-8")

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start the process; its lines are on standard error."""
        own = {"DRAFTMAP_CACHE": str(self.folder / "cache"), "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, "-m", "harness", "fleet", "matrix.toml", "--tls", "keys", *options],
            cwd=self.folder,
            env={**os.environ, **own},
            stderr=subprocess.PIPE,
            text=True,
        )


def workers(fleet: int, target: str) -> Iterator[psutil.Process]:
    """The worker that measures a target now: the parent of its run."""
    for process in psutil.Process(fleet).children(recursive=True):
        if any(target in word for word in process.cmdline()):
            yield process.parent()
            return


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_five_cells_survive_the_kill_of_a_worker(tmp_path: Path) -> None:
    killed = []
    devices = ("--listen", "127.0.0.1:0", "--device", "0", "--device", "cpu")

    with (
        serving(models=MODELS) as base,
        serving(models=MODELS, depth=3) as other,
        RunningFleet(tmp_path, base.url, other.url).start(*devices) as fleet,
    ):
        for line in fleet.stderr or ():
            if " trials" in line and not killed:
                killed = [*workers(fleet.pid, line[: len(MODELS[0])])]
                killed[0].kill()
        code = fleet.wait()

    assert killed
    assert code == 3  # the bad one
    files = sorted((tmp_path / "results").glob("*.json"))
    assert [findings(path.read_bytes()) for path in files] == [()] * len(MODELS)
    results = [json.loads(path.read_text("utf-8")) for path in files]
    assert [each["target"]["name"] for each in results] == MODELS
    for each in results:
        trials = [(one["arm"], one["prompt"], one["block"]) for one in each["trials"]]
        assert len(trials) == len(set(trials)) == each["design"]["planned_trials"]


@pytest.mark.long
def test_only_those_with_the_key_connect(tmp_path: Path) -> None:
    fleet = RunningFleet(tmp_path).start("--listen", "127.0.0.1:18786")
    try:
        while not (tmp_path / "keys" / "fleet.key").exists():
            assert fleet.poll() is None
        right = security(tmp_path / "keys")

        with ThreadPoolExecutor(1) as thread:  # an open browser has an event loop in this one
            assert thread.submit(asyncio.run, connects("tls", right)).result()
            assert not thread.submit(asyncio.run, connects("tls", Security.temporary())).result()
            assert not thread.submit(asyncio.run, connects("tcp", None)).result()
    finally:
        fleet.kill()
        fleet.communicate()


async def connects(scheme: str, key: Security | None) -> bool:
    try:
        async with Client(
            f"{scheme}://127.0.0.1:18786", security=key, asynchronous=True, timeout=10
        ):
            return True
    except OSError:
        return False


@pytest.mark.long
def test_an_address_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with RunningFleet(tmp_path).start("--listen", "192.0.2.1:8786") as fleet:  # of no machine here
        lines = (fleet.stderr or fleet).read().splitlines()

    assert fleet.returncode == 3
    assert lines[-1].startswith("Error: 192.0.2.1:8786 cannot be used (")
    assert "Traceback" not in "\n".join(lines)
