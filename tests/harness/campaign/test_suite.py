"""A suite loads, keeps its digest, and narrows down to what was asked for."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from estimates.flags.plan import suites
from harness.campaign import suite
from harness.campaign.conversation import messages
from harness.errors import BadInputError
from schemas.vocabulary import FIXED_TASKS

SMALL = '''
id = "small"
version = "1.0.0"
max_output_tokens = 8
quick_max_output_tokens = 4

[[prompts]]
id = "code-one"
task = "code"
quick = true
text = """
Say "ä".
"""

[[prompts]]
id = "code-two"
task = "code"
text = "Two."

[[prompts]]
id = "math-one"
task = "math"
text = "Three."
'''


@pytest.fixture
def small(tmp_path: Path) -> suite.PromptSuite:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return suite.load(str(path))


def ids(chosen: suite.PromptSuite) -> list[str]:
    return [prompt.id for prompt in chosen.prompts]


@pytest.mark.parametrize(("name", "each", "tasks"), [("core", 8, 9), ("core-1", 4, 8)])
def test_a_core_suite_has_the_same_number_of_prompts_for_each_task_and_three_quick_ones(
    name: str, each: int, tasks: int
) -> None:
    prompts = suite.load(name).prompts

    assert Counter(p.task for p in prompts) == dict.fromkeys((p.task for p in prompts), each)
    assert {*Counter(p.task for p in prompts if p.quick).values()} == {3}
    assert len({p.task for p in prompts}) == tasks


def test_the_task_tools_runs_only_if_named() -> None:
    core = suite.load("core")

    def tasks(**asked: object) -> set[str]:
        return {each.task for each in suite.select(core, **asked).prompts}  # type: ignore[arg-type]

    assert tasks() == tasks(prompts=["8"]) == tasks(quick=True) == {*FIXED_TASKS}
    assert tasks(tasks=["tools"]) == tasks(tasks=["tools"], quick=True) == {"tools"}
    assert tasks(prompts=["tools-book-*"]) == {"tools"}
    assert tasks(prompts=["1"], tasks=["tools", "code"]) == {"tools", "code"}


def test_every_json_prompt_ends_with_the_schema_of_its_answer_and_a_tools_prompt_with_tools() -> (
    None
):
    core = suite.load("core")
    carried = [each for each in core.prompts if each.task in ("json", "tools")]

    assert [each for each in core.prompts if each.schema] == carried
    for prompt in carried:
        assert prompt.schema is not None
        assert prompt.text.endswith("\n\n" + prompt.schema.removesuffix("\n"))
        found = json.loads(prompt.schema)
        tools = found if prompt.task == "tools" else ()
        for described in (each["parameters"] for each in tools) if tools else (found,):
            Draft202012Validator.check_schema(described)


def test_text_loses_the_line_break_before_the_closing_quotes_and_nothing_else(
    small: suite.PromptSuite,
) -> None:
    assert small.prompts[0].text == 'Say "ä".'


def test_the_digest_is_the_documented_one(small: suite.PromptSuite) -> None:
    document = (
        '{"id":"small","prompts":['
        '{"id":"code-one","task":"code","text":"Say \\"ä\\"."},'
        '{"id":"code-two","task":"code","text":"Two."},'
        '{"id":"math-one","task":"math","text":"Three."}],"version":"1.0.0"}'
    )

    assert small.sha256 == hashlib.sha256(document.encode()).hexdigest()


@pytest.mark.parametrize("name", suite.known_ids())
def test_suites_of_the_harness_equal_the_released_ones(name: str) -> None:
    shipped = suite.load(name)

    assert suites()[shipped.id][shipped.version] == shipped.sha256
    assert {prompt.task for prompt in suite.select(shipped).prompts} == {*FIXED_TASKS}
    assert shipped.quick_max_output_tokens == 32


def test_a_prompt_may_be_a_conversation() -> None:
    assert messages("Hello.") == [{"role": "user", "content": "Hello."}]
    assert messages("Hi.\n<|assistant|>\nYes?\nWell?\n<|user|>\nGo <|on|>.\n") == [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Yes?\nWell?"},
        {"role": "user", "content": "Go <|on|>.\n"},
    ]


def test_a_selection_keeps_the_digest_of_the_whole_suite(small: suite.PromptSuite) -> None:
    chosen = suite.select(small, tasks=["math"])

    assert ids(chosen) == ["math-one"]
    assert chosen.sha256 == small.sha256


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        (["code-*"], ["code-one", "code-two"]),
        (["math-one", "code-two"], ["code-two", "math-one"]),
        (["1"], ["code-one", "math-one"]),
    ],
)
def test_prompts_are_chosen_by_id_pattern_or_number_per_task(
    small: suite.PromptSuite, prompts: list[str], expected: list[str]
) -> None:
    assert ids(suite.select(small, prompts=prompts)) == expected


def test_quick_keeps_only_quick_prompts(small: suite.PromptSuite) -> None:
    assert ids(suite.select(small, quick=True)) == ["code-one"]


def test_an_unknown_prompt_is_answered_with_the_nearest(small: suite.PromptSuite) -> None:
    with pytest.raises(BadInputError, match="Did you mean 'code-two'"):
        suite.select(small, prompts=["code-tow"])


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (SMALL.replace('id = "small"\n', ""), "missing required field `id`"),
        (SMALL.replace('task = "math"', 'task = "maths"'), r"'maths' - at `\$.prompts\[2\].task`"),
        (SMALL.replace('"code-two"', '"code-one"'), "'code-one' occurs twice"),
        (SMALL.replace("= 8", '= "8"'), r"`int`, got `str` - at `\$.max_output_tokens`"),
        (SMALL.replace("= 8", "= 1"), r"`int` >= 2 - at `\$.max_output_tokens`"),
        (SMALL.replace('"small"', '"My suite"'), r"regex .* - at `\$.id`"),
        (SMALL.replace('"math-one"', '"Math 1"'), r"regex .* - at `\$.prompts\[2\].id`"),
        (SMALL.replace('"1.0.0"', '"1"'), r"regex .* - at `\$.version`"),
        (SMALL.replace('"Three."', '" "'), r"regex .* - at `\$.prompts\[2\].text`"),
        (SMALL.replace('text = "Three."', ""), r"missing required field `text` - .*prompts\[2\]"),
        (
            SMALL.replace("Three.", "Say.\\n<|assistant|>\\nNo."),
            "math-one: user and assistant turn",
        ),
        (SMALL.partition("[[")[0], "missing required field `prompts`"),
        (SMALL.partition("[[")[0] + "prompts = []", "length >= 1 - at"),
        (SMALL.partition("[[")[0] + 'prompts = "no"', "Expected `array`, got `str`"),
        ("prompts = [", "not a readable suite"),
    ],
)
def test_a_broken_suite_says_what_is_wrong(tmp_path: Path, broken: str, said: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(broken, encoding="utf-8")

    with pytest.raises(BadInputError, match=said):
        suite.load(str(path))
