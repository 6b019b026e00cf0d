"""Is every cell of a matrix measured once, on a device that can, whoever dies meanwhile?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("distributed", reason="the extra `fleet` is not installed")

from harness.cli.app import app
from harness.errors import BadInputError, UsageError
from harness.fleet import network
from harness.fleet.ledger import NAME, Entry, Ledger
from harness.fleet.matrix import parse
from harness.fleet.placement import Cell, Device, Place, assign, planned
from harness.fleet.worker import own_device, variables
from harness.fleet.workflow import workflow
from tests.test_workflows import run as run_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAMS = Path(__file__).with_name("fleet_programs.py")
KNOWN = {"blocks", "quick", "draft", "server-binary", "runner"}
MATRIX: dict[str, Any] = {
    "targets": ["big", "owner/repo:Q4_K_M"],
    "methods": ["prompt-lookup", ["draft-model:n_max=3", "draft-model:n_max=6"]],
    "backends": ["cpu", "cuda"],
    "skip": [{"target": "big", "backend": "cpu"}],
    "options": {"blocks": 3, "quick": True},
    "target": {"big": {"draft": "small", "memory-gib": 20}},
    "backend": {"cuda": {"runner": "llama-server", "server-binary": "/opt/llama server"}},
    "rig": {"desk": {"devices": ["0", "1"], "backends": ["cuda"], "memory-gib": 24}},
}


def cell(name: str, **more: Any) -> Cell:  # noqa: ANN401 - the fields of a cell
    return Cell(id=name, target=name, methods=(), arguments=("--target", name), **more)


def device(rig: str, name: str, **more: Any) -> Device:  # noqa: ANN401 - the fields of a device
    return Device(rig=rig, name=name, **more)


def test_a_matrix_is_every_combination_but_those_skipped() -> None:
    found = parse(MATRIX, KNOWN)

    assert [(c.target, c.backend, len(c.methods)) for c in found.cells] == [
        ("big", "cuda", 1),
        ("big", "cuda", 2),
        ("owner/repo:Q4_K_M", "cpu", 1),
        ("owner/repo:Q4_K_M", "cuda", 1),
        ("owner/repo:Q4_K_M", "cpu", 2),
        ("owner/repo:Q4_K_M", "cuda", 2),
    ]
    assert " ".join(found.cells[1].arguments) == (
        "--target big --method draft-model:n_max=3 --method draft-model:n_max=6 --blocks 3 --quick "
        "--draft small --runner llama-server --server-binary /opt/llama server"
    )
    assert found.cells[0].resources() == {"device": 1, "backend-cuda": 1, "memory-gib": 20}
    assert [str(each.place) for each in found.devices] == ["desk:0", "desk:1"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"target": {"bog": {}}}, r"\[target.bog\] is not one of targets"),
        (
            {"options": {"block": 3}},
            r"\[options\] block: no option of `run`. Did you mean 'blocks'",
        ),
        ({"options": {"output": "x"}}, r"\[options\] output: a fleet decides this for every cell"),
        ({"options": {"blocks": {}}}, r"\[options\] blocks: give a text, a number, true, or a"),
        ({"backends": ["cuba"]}, r"unknown backend 'cuba'. Did you mean 'cuda'"),
        ({"targets": "big"}, "targets is a list of texts"),
        ({"targets": []}, r"\[target.big\] is not one of targets"),
        ({"attempts": 0}, "attempts is a whole number from 1"),
        ({"targets": ["big", "big"]}, "two cells are the same"),
        ({"skip": [{"model": "big"}]}, "each entry of skip names some of target, method"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"rig": {"my desk": {}}}, r"\[rig.my desk\]: letters, digits"),
        ({"methods": [[]]}, "methods holds texts, and lists of texts"),
        ({"options": 3}, r"\[options\] is a table"),
    ],
)
def test_a_wrong_matrix_is_refused_with_the_place_of_the_mistake(
    change: Mapping[str, Any], line: str
) -> None:
    with pytest.raises(BadInputError, match=line):
        parse({**MATRIX, **change}, KNOWN)


def test_a_device_gets_the_cell_whose_journal_it_has_and_leaves_those_of_others() -> None:
    desk, rack = device("desk", "0"), device("rack", "0")
    cells = [cell("a"), cell("b"), cell("c", rig="rack")]
    journals = {"a": desk.place, "b": rack.place}

    both = assign(cells, [desk, rack], journals=journals)
    without_rack = assign(cells[1:], [desk], journals=journals)
    given_up = assign(cells[1:], [desk], journals=journals, away={rack.place})

    assert [(c.id, d.rig) for c, d in both] == [("a", "desk"), ("b", "rack")]
    assert without_rack == []
    assert [(c.id, d.rig) for c, d in given_up] == [("b", "desk")]


def test_a_cell_goes_where_its_backend_and_its_memory_are() -> None:
    small = device("desk", "0", backends=("cuda",), memory_gib=12.0)
    large = device("desk", "1", backends=("cuda",), memory_gib=24.0)
    cells = [cell("a", backend="cuda", memory_gib=20.0), cell("b", backend="metal"), cell("c")]

    found = assign(cells, [small, large], journals={})

    assert [(c.id, d.name) for c, d in found] == [("c", "0"), ("a", "1")]


def test_a_plan_gives_each_cell_to_the_device_that_is_free_first() -> None:
    rows = planned(
        [cell("a"), cell("b"), cell("c"), cell("d", backend="metal")],
        [device("desk", "0", backends=("cuda",)), device("desk", "1", backends=("cuda",))],
        {"a": 100.0, "b": 30.0, "c": 20.0},
    )

    assert [(row.cell.id, row.device and row.device.name, row.ends_s) for row in rows] == [
        ("a", "0", 100.0),
        ("b", "1", 30.0),
        ("c", "1", 50.0),
        ("d", None, None),
    ]


@pytest.mark.parametrize("text", ["0.0.0.0:8786", "tcp://192.0.2.7:1", "head.example"])
def test_only_this_machine_is_reached_without_encryption(text: str) -> None:
    with pytest.raises(UsageError, match="whoever reaches a scheduler can run commands"):
        network.address(text, "--listen", encrypted=False)

    assert str(network.address("127.0.0.1:9", "--listen", encrypted=False)) == "tcp://127.0.0.1:9"
    assert str(network.address("head.example", "--x", encrypted=True)) == "tls://head.example:8786"


def test_keys_are_made_once_for_their_owner_alone_and_missed_with_one_line(tmp_path: Path) -> None:
    at = network.address("0.0.0.0", "--listen", encrypted=True)  # noqa: S104 - parsed only
    with pytest.raises(BadInputError, match=r"no fleet\.key in .*; copy it from the machine"):
        network.security(at, tmp_path)

    assert network.make_keys(tmp_path / "keys")
    assert not network.make_keys(tmp_path / "keys")
    assert network.security(at, tmp_path / "keys").require_encryption
    if os.name == "posix":
        (tmp_path / "keys" / "fleet.key").chmod(0o644)
        with pytest.raises(BadInputError, match="can be read by others"):
            network.security(at, tmp_path / "keys")


@pytest.mark.parametrize(
    ("name", "cuda", "vulkan"),
    [("1", "1", "1"), ("cuda:0", "0", ""), ("vulkan:1", "", "1"), ("cpu", "", "")],
)
def test_a_worker_sees_its_own_device_only(name: str, cuda: str, vulkan: str) -> None:
    found = variables(name)

    assert (found["CUDA_VISIBLE_DEVICES"], found["GGML_VK_VISIBLE_DEVICES"]) == (cuda, vulkan)
    assert found["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    with pytest.raises(UsageError, match="--device gpu: give cpu, a number, or cuda:0"):
        variables("gpu")


def test_a_worker_says_what_its_device_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*variables("cpu"), "PATH"):
        monkeypatch.setenv(name, "")

    found = own_device("desk", "cpu", ())

    assert (found.rig, found.name, found.backends) == ("desk", "cpu", ("cpu",))
    assert found.about
    assert found.memory_gib


def test_the_ledger_forgets_an_unfinished_line_and_a_cell_whose_file_is_gone(
    tmp_path: Path,
) -> None:
    whole = Ledger(tmp_path)
    whole.add(Entry(cell="a", event="done", files=("a.json",)))
    whole.add(Entry(cell="b", event="done", files=("b.json",)))
    whole.add(Entry(cell="c", event="started", rig="desk", device="0"))
    (tmp_path / "a.json").write_text("{}")
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"cell":"d","ev')

    again = Ledger(tmp_path)

    assert [*again.done()] == ["a"]
    assert again.journals() == {"c": Place("desk", "0")}
    assert (tmp_path / NAME).read_bytes().endswith(b"\n")


def test_a_workflow_has_a_job_for_each_cell_and_passes_the_checks_of_ours(tmp_path: Path) -> None:
    path = tmp_path / ".github" / "workflows" / "fleet.yml"
    path.parent.mkdir(parents=True)
    path.write_text(workflow(parse(MATRIX, KNOWN)), "utf-8")

    schema = run_tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path))
    security = run_tool("zizmor", "--offline", "--pedantic", "--no-progress", str(path))

    assert schema.returncode == 0, schema.stdout
    assert security.returncode == 0, security.stdout
    text = path.read_text("utf-8")
    assert text.count('"self-hosted", "draftmap"') == 6
    assert "'/opt/llama server'" in text
    pin = next(line for line in text.splitlines() if "upload-artifact@" in line).strip()
    builds = Path(__file__).parents[2] / ".github" / "workflows" / "builds.yml"
    assert pin in builds.read_text("utf-8")


def test_a_dry_run_says_who_measures_what_and_how_long(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text('targets = ["nowhere.gguf"]\n[rig.desk]\ndevices = ["0"]\n', "utf-8")

    done = CliRunner().invoke(app, ["fleet", str(path), "--dry-run", "--json"])

    assert done.exit_code == 0, done.stderr
    (row,) = json.loads(done.stdout)["cells"]
    assert (row["where"], row["takes_s"]) == ("desk:0", None)


def test_an_address_that_is_taken_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text('targets = ["a"]\n', "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        done = subprocess.run(
            [sys.executable, "-m", "harness", "fleet", str(tmp_path / "matrix.toml"), "--no-tls",
             "--listen", address, "--output", str(tmp_path / "out")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith(f"Error: tcp://{address} cannot be used (")
    assert "Traceback" not in done.stderr
