"""`doctor`, a dry run and a run print the same lines about what keeps a run from its answer."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.machine import engines
from tests.harness.ggufs import write_gguf
from tests.harness.openai.fake_server import serving
from tests.harness.rigs import LOST, capture, with_ids
from tests.harness.runners.llama_server import scripted
from tests.nightly import few
from tests.processes import needs_shell

pytestmark = [needs_shell, pytest.mark.usefixtures("cache_dir")]

RTX_3090, GTX_1080 = capture("nvidia_cards_two_gpus.txt").splitlines()
MIG = "| MIG devices:                                                            |"
READ = "1800, 55, 210.5, 0x0"
# The cards that nvidia-smi lists, their state, and its table.
CARDS = {
    "no driver": ("", "", ""),
    "a card": (RTX_3090, READ, ""),
    "a card without a state": (RTX_3090, "", ""),
    "two cards": (f"{RTX_3090}\n{GTX_1080}", f"{READ}\n{READ}", ""),
    "a slice": (RTX_3090, READ, MIG),
    "a lost card": (LOST, ", ".join(["[GPU is lost]"] * 4), ""),
}
DEVICES = {
    "cpu": "Available devices:",
    "cuda": "CUDA0: NVIDIA GeForce RTX 3090 (24576 MiB, 24000 MiB free)",
    "vulkan": "Vulkan0: NVIDIA GeForce RTX 3090 (24576 MiB, 24000 MiB free)",
}
UNSEEN = "llama-server does not see NVIDIA GeForce RTX 3090"
UNREAD = "The state of NVIDIA GeForce RTX 3090 cannot be read on this machine, so a result gets no"
NAMED = "The state of RTX 3090 cannot be read on this machine, so a result gets no verdict"
UNCOUNTED = "Ollama does not report how many tokens it drafted"
UNSURE = "It is not known whether this server reports how many tokens it drafted"
ASKED = "does not report which card it computes on, and this machine has no card"
# What is said about a llama-server that lists these devices, if no layer stays on the CPU.
SAID = {
    ("a card", "cpu"): UNSEEN,
    ("a card without a state", "cpu"): UNSEEN,
    ("two cards", "cpu"): f"{UNSEEN} and NVIDIA GeForce GTX 1080 Ti",
    ("no driver", "cuda"): UNREAD,
    ("a card without a state", "cuda"): UNREAD,
    ("a lost card", "cuda"): UNREAD,
    ("a card without a state", "vulkan"): UNREAD,
}
ANY = (UNSEEN, UNREAD, NAMED, UNCOUNTED, UNSURE, ASKED)


def have(folder: Path, cards: str) -> None:
    """Write an nvidia-smi that lists these cards."""
    rows, state, banner = CARDS[cards]
    program = folder / "nvidia-smi"
    parts = (with_ids(rows), with_ids(state), banner)
    files = [folder / name for name in ("cards", "state", "banner")]
    for file, text in zip(files, parts, strict=True):
        file.write_text(f"{text}\n" if text else "", "utf-8")
    lines = 'while read -r line; do echo "$line"; done'
    program.write_text(
        f"""#!/bin/sh
        [ -s "{files[0]}" ] || exit 9
        case "$*" in
        *memory.total*) {lines} < "{files[0]}" ;;
        *temperature*) {lines} < "{files[1]}" ;;
        *) {lines} < "{files[2]}" ;;
        esac
        """,
        "utf-8",
    )
    program.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is all of PATH, on a machine without the binding."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(engines, "package_version", lambda: None)
    monkeypatch.setattr("harness.machine.linux.gpus", lambda *_: ())
    monkeypatch.chdir(tmp_path)
    return programs


def said(done: Result) -> list[str]:
    """The sentences of the pre-flight that a command printed, each once."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "Measuring" not in line]
    found = [line for line in lines if any(words in line for words in ANY)]
    bare = (line.partition("Run")[2] if " Run " in line else line for line in found)
    return [*dict.fromkeys(each.strip().removeprefix("Error: ") for each in bare)]


def three(*options: str) -> tuple[Result, Result, Result]:
    """The doctor, a dry run and a run with the same options."""
    run = CliRunner().invoke
    doctor = run(app, ["doctor", *options])
    return doctor, run(app, ["run", *options, "--dry-run"]), run(app, ["run", *options])


@pytest.mark.long
@pytest.mark.parametrize(
    ("cards", "devices", "layers"),
    few((pytest.param(*case) for case in product(CARDS, DEVICES, ((), ("--gpu-layers", "0")))), 9),
)
def test_all_three_say_the_same_about_a_card(
    folder: Path, cards: str, devices: str, layers: tuple[str, ...]
) -> None:
    have(folder, cards)
    # The server ends at once, so whatever is said precedes the first trial.
    scripted.write(
        folder / "llama-server", build=7000, crashes_with="--port", devices=DEVICES[devices]
    )
    target = str(write_gguf(folder / "big.gguf", name="Big 7B"))

    found = [said(done) for done in three("--target", target, *layers)]

    expected = None if layers else SAID.get((cards, devices))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == (expected is not None)
    assert all(line.startswith(str(expected)) for line in found[0])


OLLAMA = ("--method", "mtp:n_max=3")
VLLM = ("--method", "draft-model:n_max=3", "--draft", "Tiny-0.1B:Q4_0")


@pytest.mark.parametrize(
    ("style", "options", "cards", "expected"),
    [
        ("ollama", (*OLLAMA, "--device-name", "RTX 3090 24 GB"), "no driver", [NAMED, UNCOUNTED]),
        ("ollama", (*OLLAMA, "--device-name", "RTX 3090 24 GB"), "a card", [UNCOUNTED]),
        ("ollama", OLLAMA, "a card", [UNCOUNTED]),
        ("ollama", OLLAMA, "a card without a state", [UNREAD, UNCOUNTED]),
        ("ollama", OLLAMA, "no driver", [ASKED]),
        ("vllm", (*VLLM, "--device-name", "RTX 3090"), "no driver", [NAMED]),
        ("vllm", (*VLLM, "--backend", "cpu"), "no driver", []),
        ("plain", (*VLLM, "--backend", "cpu"), "no driver", [UNSURE]),
    ],
)
def test_all_three_say_the_same_about_a_server(
    folder: Path, style: str, options: tuple[str, ...], cards: str, expected: list[str]
) -> None:
    have(folder, cards)
    version = "0.32.0" if style == "vllm" else None  # as the package index has it
    small = ("--prompts", "1", "--tasks", "code", "--blocks", "1", "--max-tokens", "8")
    with ExitStack() as left:
        base, other = (
            left.enter_context(serving(style=style, depth=depth, version=version))
            for depth in (0, 3)
        )
        urls = ("--base-url", base.url, "--spec-base-url", other.url)
        results = three("--runner", "openai", *urls, *options, *small)

    found = [said(done) for done in results]

    assert found[0] == found[1] == found[2], [done.stderr for done in results]
    assert [words for words in ANY if any(words in line for line in found[0])] == [
        words for words in ANY if words in expected
    ]
    assert (results[2].exit_code == 0) == (expected != [ASKED])


def test_a_card_that_cannot_be_read_gets_no_verdict_and_nobody_says_yes(folder: Path) -> None:
    have(folder, "no driver")
    options = ("--runner", "openai", *OLLAMA, "--device-name", "RTX 3090 24 GB")
    small = ("--prompts", "4", "--tasks", "code,json", "--blocks", "3", "--max-tokens", "33")
    fast = {"style": "ollama", "round_ms": 4.0}
    with serving(**fast) as base, serving(**fast, depth=3, yields=2) as other:
        urls = ("--base-url", base.url, "--spec-base-url", other.url)
        run = CliRunner().invoke(app, ["run", *options, *urls, *small, "-o", "out.json"])

    shown = CliRunner().invoke(app, ["show", "out.json", "--json"])

    assert "gets no verdict and no vote" in run.stderr
    assert "Yes." not in run.stdout
    assert "Next, " not in run.stderr  # to measure again cannot help
    verdicts = {each["verdict"] for each in json.loads(shown.stdout)["estimates"]}
    assert verdicts == {"uncertain", "too-few-prompts"}


PMSET = """#!/bin/sh
echo 'System-wide power settings:'
echo 'Currently in use:'
echo ' standby              1'
echo ' {setting}'
"""


@pytest.mark.parametrize(
    ("setting", "low"),
    [("lowpowermode         1", True), ("powermode            1", True), ("powermode   0", False)],
)
def test_run_on_a_mac_in_low_power_says_so_before_it_measures(
    folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str, *, low: bool
) -> None:
    (folder / "pmset").write_text(PMSET.format(setting=setting))
    (folder / "pmset").chmod(0o755)
    monkeypatch.setattr(
        "harness.machine.environment.platform", SimpleNamespace(system=lambda: "Darwin")
    )
    # The server ends at once, so whatever is said precedes the first trial.
    scripted.write(folder / "llama-server", build=7000, crashes_with="--port", devices="")
    target = str(write_gguf(folder / "big.gguf", name="Big 7B"))

    for done in three("--target", target, "--gpu-layers", "0"):
        assert ("low-power mode" in done.stdout + done.stderr) == low
