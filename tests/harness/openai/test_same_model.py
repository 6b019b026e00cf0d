"""Two servers whose texts are not from the same model are flagged in the file."""

from pathlib import Path
from typing import Any

import pytest

from estimates.summary import summarize
from harness.openai.listed_models import Served, other_model
from tests.harness.openai.fake_answers import MODEL
from tests.harness.openai.fake_server import serving
from tests.harness.openai.test_run import at, call, measured
from tests.harness.openai.test_started import command

METHOD = ("--method", "prompt-lookup:n_max=3", "--backend", "cpu")
SMALL = ("--tasks", "code,math", "--prompts", "1", "--max-tokens", "16", "--blocks", "1")
# The plain server, the difference of the other one, and the severity of the flag about texts.
TEXTS = {
    "the same text of tokens": ({}, {}, None),
    "the same text": ({"style": "plain"}, {}, None),
    "the same text of Ollama": ({"style": "ollama"}, {}, None),
    "the same text under its name": ({"style": "plain", "named": MODEL}, {}, None),
    "another text after twelve words": ({"style": "ollama"}, {"parts_at": 12}, "caution"),
    "another text after eight words": ({"style": "plain"}, {"parts_at": 8}, "caution"),
    "another text after seven words": ({"style": "plain"}, {"parts_at": 7}, "serious"),
    "another text from the first word": ({"style": "ollama"}, {"parts_at": 0}, "serious"),
    # If tokens can be compared, they decide whether the texts differ.
    "the same tokens": ({}, {"parts_at": 0}, None),
}


@pytest.mark.parametrize("case", TEXTS)
@pytest.mark.usefixtures("cache_dir")
def test_texts_are_compared_if_there_are_no_token_ids(case: str, tmp_path: Path) -> None:
    behaviour, other, severity = TEXTS[case]
    output = tmp_path / "out.json"

    with serving(**behaviour) as base, serving(depth=3, **behaviour, **other) as spec:
        done = call(*at(base, spec), *METHOD, *SMALL, "-o", str(output))

    assert done.exit_code == 0, done.stderr
    submission = measured(output)
    flags = {each.name: each.severity for each in summarize(submission).flags}
    assert flags.get("diverged") == severity
    assert all(bool(each.text_sha256) != bool(each.output_sha256) for each in submission.trials)
    parted = {trial.equal_words for trial in submission.trials if trial.arm != "baseline"}
    assert parted == {other.get("parts_at") if severity else None}


@pytest.mark.parametrize("named", ["Tiny-0.1B-Instruct", "Tiny-1B-Instruct-AWQ"])
@pytest.mark.usefixtures("cache_dir")
def test_an_answer_by_another_model_is_refused(named: str, tmp_path: Path) -> None:
    with serving() as base, serving(depth=3, named=named) as other:
        done = call(*at(base, other), *METHOD, *SMALL, "-o", str(tmp_path / "out.json"))

    assert done.exit_code == 3  # no arm that drafts is left
    assert f"the model {named} answered, but {MODEL} was requested" in done.stderr


@pytest.mark.parametrize(
    ("base", "spec", "severity"),
    [
        ("--threads 1 -ngl 0", "--threads 8 -ngl 99", "serious"),
        ("--threads 8 -ngl 99", "--threads 8 -ngl 99 --seed 2", None),
    ],
)
@pytest.mark.usefixtures("cache_dir")
def test_servers_that_are_started_with_other_arguments_have_a_flag(
    base: str, spec: str, severity: str | None, tmp_path: Path
) -> None:
    output = tmp_path / "out.json"
    servers = (
        "--server-command", f"{command()} {base}",
        "--spec-server-command", f"{command('--depth', '3')} {spec}",
    )  # fmt: skip

    done = call(*servers, "--target", MODEL, *METHOD, *SMALL, "-o", str(output))

    assert done.exit_code == 0, done.stderr
    flags = {each.name: each.severity for each in summarize(measured(output)).flags}
    assert flags.get("arguments-differ") == severity


@pytest.mark.parametrize(
    ("served", "names", "other"),
    [
        ({"id": "llama3.2:3b"}, ("llama3.2:3b",), None),
        ({"id": "qwen", "root": "Qwen/Qwen3-8B"}, ("Qwen/Qwen3-8B",), None),
        ({"id": "/models/Tiny.gguf"}, ("tiny.gguf",), None),
        ({"id": "a"}, ("", "a"), None),
        ({"id": "a"}, ("a", "b"), "b"),
    ],
)
def test_a_name_in_an_answer_is_that_of_the_model_or_of_its_source(
    served: dict[str, Any], names: tuple[str, ...], other: str | None
) -> None:
    assert other_model(names, Served(**served)) == other


@pytest.mark.usefixtures("cache_dir")
def test_an_unnamed_draft_of_a_server_must_be_named() -> None:
    with serving() as base, serving(depth=3) as other:
        done = call(*at(base, other), "--method", "draft-model:n_max=3", *SMALL)

    assert done.exit_code == 2
    assert "missing: --draft NAME" in done.stderr
