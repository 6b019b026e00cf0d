"""`compare` measures two builds alternately and ends with the exit code that a CI job needs."""

import json
import re
import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.campaign.trial_order import engine_orders, passes, plan
from harness.cli import app
from harness.run.time_limit import JointEnd
from tests.harness.campaigns import BASELINE, LOOKUP, campaign
from tests.harness.ggufs import write_gguf
from tests.harness.openai.fake_answers import MODEL
from tests.harness.openai.test_run import SUITE
from tests.harness.openai.test_stand_ins import command
from tests.harness.runners.llama_server import scripted
from tests.nightly import few
from tests.processes import needs_shell

pytestmark = [needs_shell, pytest.mark.long]


class Comparing:
    """A folder with a model, in which builds are compared."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.target = write_gguf(folder / "target.gguf", name="Big 7B")

    def __call__(self, base: Path, head: Path, *more: str) -> Result:
        return self.called(
            *("--base", str(base), "--head", str(head)),
            *("--target", str(self.target), "--method", "ngram-simple", *more),
        )

    def builds(self, token_ms: float = 1.0, crashes_with: str = "-") -> tuple[Path, Path]:
        """Return two builds, of which only the second has a change."""
        base, head = (self.folder / name / "llama-server" for name in ("base", "head"))
        scripted.write(head, build=7001, token_ms=token_ms, crashes_with=crashes_with)
        return scripted.write(base, build=7000), head

    def called(self, *options: str) -> Result:
        small = ("--tasks", "code", "--prompts", "2", "--max-tokens", "9", "--blocks", "6")
        output = ("--output", str(self.folder / "out"))
        return CliRunner().invoke(app, ["compare", *options, *small, *output])


@pytest.fixture
def comparing(tmp_path: Path, cache_dir: Path) -> Comparing:
    assert cache_dir.is_dir()
    return Comparing(tmp_path)


@pytest.mark.nightly
def test_a_slower_build_ends_with_1_and_says_by_how_much(
    comparing: Comparing, tmp_path: Path
) -> None:
    done = comparing(*comparing.builds(token_ms=1.2), "--markdown", str(tmp_path / "comment.md"))

    assert done.exit_code == 1, done.stderr
    assert done.stdout.startswith("Slower: baseline by 1")
    assert "base  llama.cpp b7000" in done.stdout
    # Nine tokens in five rounds: eight after the first, three of them drafted.
    assert "tokens per round  1.60 → 1.60" in done.stdout
    assert "2 of 2 identical" in done.stdout
    comment = (tmp_path / "comment.md").read_text("utf-8")
    assert comment.startswith("### Speculative decoding: Slower: baseline by 1")
    assert "| `ngram-simple-n8` | tokens per second |" in comment
    assert len(list((tmp_path / "out").glob("*.json"))) == 2


def test_the_same_program_twice_shows_no_difference_and_ends_with_0(
    comparing: Comparing, tmp_path: Path
) -> None:
    program = scripted.write(tmp_path / "llama-server", build=7000)

    done = comparing(program, program, "--json")

    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    # Its answers take 10 ms: requests by the wall clock may be unclear, never clear.
    assert found["verdict"] in {"no-difference", "unclear"}
    assert {arm["speed"]["direction"] for arm in found["arms"]} == {"no-difference"}
    assert [arm["arm"] for arm in found["arms"]] == ["baseline", "ngram-simple-n8"]
    assert found["arms"][0]["speed"]["interval"]["low"] < 1.05
    # Seven figures are tested: writing, reading and requests of two arms, and one R.
    assert found["level"] == pytest.approx(1 - 0.02 / 7)
    assert found["confidence"] == pytest.approx(0.98)


@pytest.mark.nightly
def test_a_build_that_reads_prompts_at_half_speed_is_slower_at_the_first_run(
    comparing: Comparing, tmp_path: Path
) -> None:
    base = scripted.write(tmp_path / "base" / "llama-server", build=7000, prompt_ms=100)
    head = scripted.write(tmp_path / "head" / "llama-server", build=7001, prompt_ms=200)

    done = comparing(base, head, "--json")

    assert done.exit_code == 1, done.stderr
    (plain, _) = json.loads(done.stdout)["arms"]
    assert plain["prompt_speed"]["direction"] == "lower"
    assert plain["prompt_speed"]["ratio"] == pytest.approx(0.5, abs=0.1)
    assert plain["whole_request"]["direction"] == "higher"
    assert plain["speed"]["direction"] == "no-difference"


@pytest.mark.nightly
def test_a_bound_passes_speeds_that_are_not_clearly_below_it(comparing: Comparing) -> None:
    done = comparing(*comparing.builds(token_ms=1.2), "--fail-below", "0.5")

    assert done.exit_code == 0, done.stderr


@pytest.mark.nightly
def test_servers_of_any_kind_are_compared_by_their_commands(
    comparing: Comparing, tmp_path: Path
) -> None:
    def side(name: str, round_ms: float) -> list[str]:
        behaviours = ({"round_ms": round_ms}, {"round_ms": round_ms, "depth": 3})
        return [each for one in behaviours for each in (f"--{name}-command", command(one))]

    done = comparing.called(
        *side("base", 8), *side("head", 16),
        *("--target", MODEL, "--method", "prompt-lookup:n_max=3", "--backend", "cpu"),
        *("--markdown", str(tmp_path / "comment.md")),
    )  # fmt: skip

    assert done.exit_code == 1, done.stderr
    assert "tokens per second" in done.stdout
    assert "base  vLLM 0.32.0+cpu" in done.stdout
    assert "prompt-lookup-n3" in (tmp_path / "comment.md").read_text("utf-8")


@pytest.mark.nightly
def test_a_reference_is_written_then_checked_and_fails_if_it_was_better(
    comparing: Comparing, tmp_path: Path
) -> None:
    program = scripted.write(tmp_path / "llama-server", build=7000)
    file, summary = tmp_path / "reference.json", tmp_path / "summary.md"

    def checked() -> Result:
        # A run of the same command replaces no earlier result.
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        asked = ("--head", str(program), "--reference", str(file), "--markdown", str(summary))
        target = ("--target", str(comparing.target), "--method", "ngram-simple")
        return comparing.called(*asked, *target)

    wrote, same = checked(), checked()
    document = json.loads(file.read_text("utf-8"))
    document["arms"]["ngram-simple-n8"]["code"]["tokens_per_round"] *= 1.1
    file.write_text(json.dumps(document), "utf-8")
    worse = checked()
    file.write_text("{}", "utf-8")
    unread = checked()

    assert (wrote.exit_code, same.exit_code) == (0, 0), wrote.stderr + same.stderr
    assert wrote.stdout == f"Reference written: {file}. The next run is checked against it.\n"
    assert same.stdout.startswith("No difference in 1 task.")
    assert worse.exit_code == 1
    assert worse.stdout.startswith(
        "Fewer tokens per round than the reference: ngram-simple-n8 on code (largest loss on "
    )
    # Eight tokens in five rounds.
    assert "| `ngram-simple-n8` | code | 1.76 → 1.60 | -9.1 %" in summary.read_text("utf-8")
    assert unread.exit_code == 2
    assert "is not a reference of this version" in unread.stderr


@pytest.mark.nightly
@pytest.mark.usefixtures("cache_dir")
def test_calls_that_only_head_corrupts_end_with_4(tmp_path: Path) -> None:
    suite = tmp_path / "lamps.toml"
    suite.write_text(SUITE, "utf-8")

    done = CliRunner().invoke(
        app,
        [
            *("compare", "--target", MODEL, "--backend", "cpu", "--suite", str(suite)),
            *("--base-command", command({"calls": "sound"}), "--blocks", "3"),
            *("--head-command", command({"calls": "corrupt"}), "-o", str(tmp_path / "out")),
        ],
    )

    assert done.exit_code == 4, done.stderr
    assert done.stdout.startswith("Invalid answers with head:")
    assert " of 24 answers of baseline (base: 0 of" in done.stdout


@pytest.mark.parametrize(
    ("against", "prompt_ms", "what"),
    few(
        [
            pytest.param("--base", 1200, "a comparison of 6 blocks"),
            pytest.param("--reference", 2000, "a block of all prompts"),
        ],
        1,
    ),
)
def test_a_first_block_that_would_overrun_the_limit_is_stopped_and_can_go_on(
    comparing: Comparing,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    against: str,
    prompt_ms: int,
    what: str,
) -> None:
    # Each arm warms up and answers two prompts: 14 s for both builds, 12 s for one. There are six.
    slow = scripted.write(tmp_path / "llama-server", build=7000, prompt_ms=prompt_ms)
    base = str(slow) if against == "--base" else str(tmp_path / "reference.json")
    monkeypatch.setattr(sys, "argv", ["draftmap", "compare", "--head", "x", "--budget", "0.1"])
    monkeypatch.setattr(JointEnd, "expected", lambda *_: None)  # as on a card

    done = comparing.called(
        *("--head", str(slow), against, base, "--budget", "0.1"),
        *("--target", str(comparing.target), "--method", "ngram-simple"),
    )

    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    assert f"--budget 0.1 is too short: {what} takes about" in done.stderr
    assert (
        "s at the pace of its first answers; continue with python -m harness compare" in done.stderr
    )
    # On a busy machine, the first answer including loading makes blocks look longer.
    assert re.search(r"compare --head x --resume --budget [1-9]\n$", done.stderr)
    assert not list((tmp_path / "out").glob("*.json"))
    assert not (tmp_path / "reference.json").exists()


@pytest.mark.nightly
def test_an_arm_that_only_base_can_run_ends_with_3(comparing: Comparing) -> None:
    done = comparing(*comparing.builds(crashes_with="ngram-simple"))

    assert done.exit_code == 3, done.stderr
    assert done.stdout.startswith("Not compared: ngram-simple-n8.")
    assert "ngram-simple-n8: head cannot run this arm" in done.stdout


def test_a_build_that_cannot_run_at_all_ends_the_other_at_once(comparing: Comparing) -> None:
    done = comparing(*comparing.builds(crashes_with="none"))

    assert done.exit_code == 3, done.stderr
    assert "Error: head: the baseline cannot run" in done.stderr
    assert done.stdout == ""


@pytest.mark.nightly
def test_a_dry_run_finds_programs_here_and_prints_the_commands_of_both_builds(
    comparing: Comparing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.write(tmp_path / "llama-server", build=7000)
    monkeypatch.chdir(tmp_path)
    here = ("--base", "./llama-server", "--head", "./llama-server", "--dry-run")
    asked = (*here, "--target", str(comparing.target))

    done = comparing.called(*asked)
    deep = comparing.called(*asked, "--context-depth", "1024", "--json")

    assert done.exit_code == 0, done.stderr
    names = [name for name in done.stdout.splitlines() if name in {"base", "head"}]
    assert names == ["base", "head"]
    assert json.loads(deep.stdout)["settings"]["context_depth_tokens"] == 1024


def test_every_arm_has_each_order_of_the_builds_equally_often() -> None:
    planned = replace(campaign(arms=(BASELINE, LOOKUP), blocks=6), interleaved="block")

    turns = engine_orders(planned, ("base", "head"))

    groups = passes(plan(planned), "block")
    assert [turn[0].order for turn in groups] == list(turns)
    for arm in ("baseline", LOOKUP.id):
        firsts = Counter(turns[turn[0].order][0] for turn in groups if turn[0].arm == arm)
        assert firsts == {"base": 3, "head": 3}
