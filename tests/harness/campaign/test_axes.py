"""Options, refusals, prompts and recorded values of context depth, sampling, cache and others."""

import bz2
import hashlib
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from harness.campaign import axis_options, context_padding, suite
from harness.campaign.builder import context_for
from harness.campaign.context_padding import filled
from harness.campaign.options import Options
from harness.cli import app
from harness.errors import BadInputError, HarnessError
from harness.run.check_runner_options import require_suited
from harness.run.chosen_engine import ChosenEngine, at_depths
from harness.runners.inprocess.loop import SampledTarget, Sampler, decode
from harness.runners.options import ConnectionOptions
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.submission import Axes, Settings
from schemas.vocabulary import RUNNERS
from schemas.vocabulary.axes import AXES
from tests.harness.campaigns import campaign, run
from tests.harness.runners.test_loop import PROMPT, ScriptedDrafter

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


def test_prompts_too_long_for_the_smallest_depth_are_dropped_with_a_note() -> None:
    core = suite.load("core-1")
    said: list[str] = []

    short = context_padding.fitting(core, (4096, 512), said.append)

    # (512 - 48) tokens of at least 2.5 characters.
    assert {len(prompt.text) <= 1160 for prompt in short.prompts} == {True}
    assert len(core.prompts) - len(short.prompts) == 8
    assert said == ["Left out: 8 prompts, too long for a context of 512 tokens."]
    assert context_padding.fitting(core, (4096,), said.append) == core
    with pytest.raises(BadInputError, match="no prompt is shorter than --context-depth 64"):
        context_padding.fitting(core, (64,), said.append)


def test_all_depths_get_the_context_of_the_deepest() -> None:
    # 4096 + 96 of output + 64 for drafts = 4256, in steps of 256.
    assert context_for((512, 4096), 96) == 4352
    assert context_for((512,), 96) == context_for((), 96) == 2048


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--draft-sampling", "greedy"], "--draft-sampling works only with --temperature"),
        (["--draft-sampling", "some"], "--draft-sampling some: unknown value; give greedy or prob"),
        (["--n-cpu-ffn", "0"], "--n-cpu-ffn 0: give a whole number from 1 to 1,024"),
    ],
)
def test_unknown_and_incompatible_values_are_refused(given: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["run", "--runner", "llama-server", "--dry-run", *given])

    assert result.exit_code == BadInputError.exit_code
    assert said in result.stderr


@pytest.mark.parametrize(
    ("runner", "given", "said"),
    [
        ("llama-cpp-python", {"cpu_expert_layers": -1}, "use --runner llama-server"),
        (
            "llama-cpp-python",
            {"server_arguments": ("--swa-full",)},
            "does not support --server-arg",
        ),
        ("mlx", {"kv_type_k": "q8_0"}, "use --runner llama-cpp-python"),
        (
            "mlx",
            {"threads": 1},
            "does not support --threads; leave it out, or use",
        ),
    ],
)
def test_an_unsupported_option_is_refused_and_a_suitable_runner_named(
    runner: str, given: dict[str, object], said: str
) -> None:
    with pytest.raises(HarnessError) as caught:
        require_suited(Options(**given), runner, RUNNERS[runner])  # type: ignore[arg-type]

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_axis_is_a_setting_of_the_format_and_one_of_a_runner() -> None:
    kinds = {"integer": int, "number": float, "text": str, "texts": tuple}
    hints = get_type_hints(Settings)

    for name, axis in AXES.items():
        written = {get_origin(each) or each for each in get_args(hints[name])} - {NoneType}
        assert written in ({kinds[axis.type]}, {Literal}), name
        assert set() < set(axis.runners) <= RUNNERS.keys(), name
    assert {each.name for each in fields(Axes)} == AXES.keys() - {"context_depth_tokens"}


def test_a_run_has_the_default_of_every_axis_that_was_not_set() -> None:
    assert axis_options.with_defaults(Options()) == {
        name: getattr(campaign().settings, name) for name in AXES if name != "context_depth_tokens"
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


def test_depths_are_numbers_each_once_in_order() -> None:
    parse = axis_options.OPTIONS["context_depth_tokens"].parse

    assert parse is not None
    assert parse(["4096,512", "512"]) == (512, 4096)
    with pytest.raises(HarnessError, match="give whole numbers from 64 to"):
        parse(["5"])


@pytest.mark.usefixtures("fake_engine")
def test_several_depths_are_separate_alternating_runs() -> None:
    engine = ChosenEngine(runner="llama-cpp-python", connection=ConnectionOptions())

    alone = at_depths([engine], (512,))
    several = at_depths([replace(engine, name="cuda")], (512, 4096))

    assert [(each.name, each.depth) for each in alone] == [("", 512)]
    assert [each.name for each in several] == ["cuda context 512", "cuda context 4096"]
    assert several[1].on(campaign()).settings.context_depth_tokens == 4096


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


VOCABULARY = 8


class FixedModel:
    """Logits that depend on the position only; the last token never ends the text."""

    def __init__(self) -> None:
        self.held = len(PROMPT)
        self._rows: NDArray[np.float32] = np.empty((0, VOCABULARY), np.float32)

    def step(self, tokens: Sequence[int]) -> list[int]:
        self._rows = np.stack([logits_at(self.held + at) for at in range(1, len(tokens) + 1)])
        self.held += len(tokens)
        return [int(row.argmax()) for row in self._rows]

    def truncate(self, length: int) -> None:
        self.held = length

    def is_end(self, token: int) -> bool:
        return token < 0

    def margins(self, count: int) -> list[float]:
        return [0.5] * count

    def logits(self, count: int) -> NDArray[np.float32]:
        return self._rows[:count]


def logits_at(position: int) -> NDArray[np.float32]:
    return np.array([(position * 7 + token * 3) % 5 for token in range(VOCABULARY)], np.float32)


def text_with(draft: list[int], *, key: str, temperature: float = 1.0) -> tuple[int, ...]:
    sampler = Sampler(temperature=temperature, key=key)
    decoded = decode(
        target=SampledTarget(FixedModel(), sampler, held=len(PROMPT)),
        drafter=ScriptedDrafter(lambda _text: draft),
        prompt=PROMPT,
        first=sampler.draw(logits_at(len(PROMPT)), len(PROMPT)),
        first_margin=None,
        max_output_tokens=40,
    )
    return decoded.tokens


def test_speculation_draws_the_same_text_as_plain_sampling() -> None:
    plain = text_with([], key="1 a")

    assert len(set(plain)) > 3
    assert all(text_with(draft, key="1 a") == plain for draft in ([0, 1], [3, 3, 3], [6]))
    assert text_with([], key="2 a") != plain


def test_draws_follow_the_probabilities() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2], np.float32))
    sampler = Sampler(temperature=1.0, key="seed")

    counts = np.bincount([sampler.draw(logits, position) for position in range(4000)], minlength=3)

    # Three standard errors of a share near a half in 4000 draws are 0.024.
    assert counts / 4000 == pytest.approx([0.5, 0.3, 0.2], abs=0.024)


def test_a_low_temperature_takes_the_likeliest() -> None:
    logits = np.array([1.0, 3.0, 2.5], np.float32)
    sampler = Sampler(temperature=0.01, key="seed")

    assert {sampler.draw(logits, position) for position in range(50)} == {1}
