"""Options, refusals, prompts and recorded values of context depth, sampling, cache and others."""

import bz2
import hashlib
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from harness.campaign import axis_options, context_padding, suite
from harness.campaign.builder import context_for
from harness.campaign.context_padding import filled
from harness.campaign.options import Options
from harness.errors import BadInputError, HarnessError
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.submission import Axes, Settings
from schemas.vocabulary import RUNNERS
from schemas.vocabulary.axes import AXES
from tests.harness.campaigns import campaign, run

QUESTION = "Name a river."
FILLER = "2f649d5c1d0b754c61812f50335bef4d7c88f056ec2708da96f7709579e46652"


def words_in(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("depth", [64, 100, 1000, 15_000])
def test_a_prompt_is_filled_up_to_its_depth_and_ends_with_its_question(depth: int) -> None:
    text = filled(QUESTION, depth=depth, size_of=words_in)

    assert depth - 8 <= words_in(text) <= depth
    assert text.endswith(f"\n\n{QUESTION}")


def test_two_prompts_begin_with_different_text_and_one_always_with_the_same() -> None:
    one, other = (filled(text, depth=200, size_of=words_in) for text in ("One?", "Other?"))

    assert one.split()[10:60] != other.split()[10:60]
    assert filled("One?", depth=200, size_of=words_in) == one


def test_the_filler_repeats_no_paragraph_and_its_text_is_fixed() -> None:
    file = resources.files("harness.campaign").joinpath("suites", "filler.txt.bz2")
    data = bz2.decompress(file.read_bytes())
    paragraphs = data.decode().split("\n\n")

    assert len(set(paragraphs)) == len(paragraphs) > 300
    # Results at a depth were measured with this text: another text would start another series.
    assert hashlib.sha256(data).hexdigest() == FILLER


def test_a_depth_that_a_prompt_exceeds_or_no_text_reaches_is_refused() -> None:
    with pytest.raises(
        BadInputError, match="takes 14 tokens without padding, more than --context-depth"
    ):
        filled(QUESTION, depth=12, size_of=lambda text: min(words_in(text), 14))
    with pytest.raises(BadInputError, match="the filler text has only"):
        filled(QUESTION, depth=10**6, size_of=words_in)


def test_prompts_too_long_for_the_depth_are_dropped_with_a_note() -> None:
    core = suite.load("core-1")
    said: list[str] = []

    short = context_padding.fitting(core, 512, said.append)

    # (512 - 48) tokens of at least 2.5 characters.
    assert {len(prompt.text) <= 1160 for prompt in short.prompts} == {True}
    assert len(core.prompts) - len(short.prompts) == 8
    assert said == ["Left out: 8 prompts, too long for a context of 512 tokens."]
    assert context_padding.fitting(core, 4096, said.append) == core
    with pytest.raises(BadInputError, match="no prompt is shorter than --context-depth 64"):
        context_padding.fitting(core, 64, said.append)


def test_a_depth_gets_the_context_that_it_needs() -> None:
    # 4096 + 96 of output + 64 for drafts = 4256, in steps of 256.
    assert context_for(4096, 96) == 4352
    assert context_for(512, 96) == context_for(None, 96) == 2048


def test_every_axis_is_a_setting_of_the_format_and_one_of_a_runner() -> None:
    kinds = {"integer": int, "number": float, "text": str, "texts": tuple}
    hints = get_type_hints(Settings)

    for name, axis in AXES.items():
        written = {get_origin(each) or each for each in get_args(hints[name])} - {NoneType}
        assert written in ({kinds[axis.type]}, {Literal}), name
        assert set() < set(axis.runners) <= RUNNERS.keys(), name
    assert {each.name for each in fields(Axes)} == AXES.keys()


def test_a_run_has_the_default_of_every_axis_that_was_not_set() -> None:
    assert axis_options.with_defaults(Options()) == {
        name: getattr(campaign().settings, name) for name in AXES
    }


def test_an_argument_with_a_place_or_a_key_is_refused() -> None:
    parse = axis_options.OPTIONS["server_arguments"].parse

    assert parse is not None
    assert parse(["--cache-reuse 256", "--swa-full", "--cache-reuse=256", "-sm row"]) == (
        "--cache-reuse 256", "--swa-full", "--cache-reuse 256", "-sm row",
    )  # fmt: skip
    for bad in ("--lora /models/a.gguf", "swa-full", "--a b c", "--x 'a", "", "--u http://h/"):
        with pytest.raises(HarnessError, match="give one option with its value"):
            parse([bad])


def test_a_run_at_a_depth_with_a_temperature_is_recorded_and_compares_no_texts(
    tmp_path: Path,
) -> None:
    made = campaign(context_tokens=8192)
    asked = {"context_depth_tokens": 512, "temperature": 0.8, "sampling_seed": 4}
    made = replace(made, settings=replace(made.settings, **asked))

    submission = run(made, tmp_path / "run.jsonl")

    settings = submission.settings
    assert findings(canonical_bytes(encode(submission))) == ()
    assert submission.version == 2
    assert (settings.context_depth_tokens, settings.sampling) == (512, "other")
    assert (settings.temperature, settings.sampling_seed) == (0.8, 4)
    assert {trial.compared_tokens for trial in submission.trials} == {None}
