"""ik_llama.cpp is measured, here a stand-in that parses and answers as its source does."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.runners.http.counted_rounds import Counted
from harness.runners.http.values import BadAnswerError
from harness.runners.llama_server.abilities import read_help
from harness.runners.llama_server.completion import ByDepth, counted_by_depth
from planner.engine_commands import default_method, serve_nearest
from schemas import contract
from schemas.rig import IK_LLAMA_CPP
from schemas.submission import Submission
from schemas.vocabulary import METHODS
from tests.harness.ggufs import write_gguf
from tests.harness.runners.llama_server import scripted
from tests.nightly import few
from tests.processes import needs_shell

pytestmark = needs_shell

HELP = read_help(scripted.IK_HELP.read_text("utf-8"))
SIZED = "n_max=%d,n_min=0,p_min=0"
LOOKUP = "ngram_size_n=3,n_max=8,ngram_size_m=8,ngram_min_hits=1"
WORDS = {
    "draft-model": f"draft:{SIZED % 4}",
    "dflash": f"dflash:{SIZED % 7}",
    "dspark": f"dspark:{SIZED % 7}",
    "mtp": f"mtp:{SIZED % 3}",
    "ngram-cache": "ngram-cache",
    "ngram-simple": f"ngram-simple:{LOOKUP}",
    "ngram-map-k": f"ngram-map-k:{LOOKUP}",
    "ngram-map-k4v": f"ngram-map-k4v:{LOOKUP}",
    "ngram-mod": "ngram-mod:ngram_size_n=3,n_min=2,n_max=8",
    "suffix": "suffix:n_max=24",
}


def run(
    folder: Path,
    method: str,
    *more: str,
    depths: tuple[tuple[int, int], ...] = scripted.IK_DEPTHS,
) -> Result:
    server = scripted.write_ik(folder / "llama-server", depths=depths)
    target = write_gguf(folder / "target.gguf", name="Big 7B")
    draft = write_gguf(folder / "draft.gguf", name=f"Small 1B {method.partition(':')[0]}")
    drafts = any(METHODS[name.partition(":")[0]].draft != "none" for name in method.split("+"))
    return CliRunner().invoke(
        app,
        [
            *("run", "--runner", "llama-server", "--server-binary", str(server)),
            *("--target", str(target), "--gpu-layers", "0", "--method", method),
            *(("--draft", str(draft)) if drafts else ()),
            *("--output", str(folder / "out.json"), *more),
        ],
    )


def test_every_type_of_the_help_has_its_words() -> None:
    assert HELP.stages
    assert {"none", *(words.partition(":")[0] for words in WORDS.values())} == {*HELP.spec_types}


@pytest.mark.parametrize("method", few(WORDS, 3))
def test_a_dry_run_offers_every_type_in_words_that_the_fork_parses(
    method: str, tmp_path: Path, cache_dir: Path
) -> None:
    assert cache_dir.is_dir()

    done = run(tmp_path, method, "--dry-run")

    assert done.exit_code == 0, done.output
    line = next(each for each in done.stdout.splitlines() if f"--spec-type {WORDS[method]}" in each)
    words = line.split()
    assert words.count("--spec-type") == 1
    assert scripted.read_ik(words)
    served = serve_nearest(IK_LLAMA_CPP, "T.gguf", None, default_method(method))
    assert served is not None
    assert served.words[3:] == ("--spec-type", WORDS[method])


def test_a_chain_repeats_the_argument(tmp_path: Path, cache_dir: Path) -> None:
    assert cache_dir.is_dir()

    done = run(tmp_path, "ngram-mod+draft-model:n_max=5", "--dry-run")

    assert f"--spec-type {WORDS['ngram-mod']} --spec-type draft:{SIZED % 5}" in done.stdout


def test_a_type_that_the_help_does_not_list_is_refused_by_name(
    tmp_path: Path, cache_dir: Path
) -> None:
    assert cache_dir.is_dir()

    done = run(tmp_path, "eagle3", "--dry-run")

    assert done.exit_code == 2  # another --method, or another binary
    assert (
        "this llama-server does not support method eagle3 (it offers none, draft, dflash"
        in done.stderr
    )


def test_a_run_counts_rounds_by_depth_and_passes_the_gate(tmp_path: Path, cache_dir: Path) -> None:
    assert cache_dir.is_dir()

    done = run(tmp_path, "ngram-simple", "--quick", "--max-tokens", "9")

    assert done.exit_code == 0, done.output
    result = contract.read((tmp_path / "out.json").read_bytes())  # what the gate does
    assert isinstance(result, Submission)
    assert (result.engine.name, result.engine.backend) == ("ik_llama.cpp", "cpu")
    trial = next(each for each in result.trials if each.arm != "baseline")
    # Nine tokens, four of them accepted drafts: 9 - 1 - 4 rounds, of which one drafted nothing.
    assert (trial.rounds, trial.drafted, trial.accepted) == (4, 7, 4)
    # Accepted at depths 1, 2, 3: 2, 1, 1 rounds, so one round accepted 1 and one accepted 3.
    assert trial.accepted_histogram == (2, 1, 0, 1)
    assert trial.drafted_histogram == (1, 1, 0, 2)
    assert trial.text_sha256 is not None


@pytest.mark.parametrize(
    ("depths", "message"),
    [
        (((3, 1), (2, 2)), r"\[3, 2\] drafted and \[1, 2\] accepted .* that is impossible"),
        (((2, 1), (3, 0)), "that is impossible"),
        (((3, 1), (2, 1)), "adds up to 5 drafted and 2 accepted, .* states 7 and 4"),
    ],
)
def test_counts_that_contradict_themselves_are_refused(
    depths: tuple[tuple[int, int], ...], message: str
) -> None:
    listed = [
        ByDepth(depth=at, draft_n=tried, draft_n_accepted=accepted)
        for at, (tried, accepted) in enumerate(depths, start=1)
    ]

    with pytest.raises(BadAnswerError, match=message):
        counted_by_depth(listed, Counted(drafted=7, accepted=4))


def test_an_arm_with_such_counts_fails_and_says_why(tmp_path: Path, cache_dir: Path) -> None:
    assert cache_dir.is_dir()

    done = run(tmp_path, "ngram-simple", "--quick", depths=((2, 1), (2, 2)))

    assert done.exit_code == 3
    assert "because fewer rounds reach a deeper token" in done.stderr
