"""Thinking is off where a template has a switch, and the result says so."""

from dataclasses import replace

import pytest

from estimates.identity import identify
from harness.campaign.options import Options
from harness.models.thinking import arguments, has_switch, state
from tests.harness.campaign.test_campaign import campaign
from tests.samples import sample

QWEN = (
    "{%- for message in messages %}{{- message.content }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}"
)
DEEPSEEK = "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ x }}"
ALWAYS = "{{ messages[0].content }}{{ '<|Assistant|><think>\\n' }}"
PLAIN = "{{ messages[0].content }} I was thinking of {{ 'thinking' }} {{ message.thinking }}"


@pytest.mark.parametrize(
    ("template", "switched"),
    [(QWEN, True), (DEEPSEEK, True), (ALWAYS, False), (PLAIN, False), (None, False)],
)
def test_a_thinking_switch_is_a_variable_of_the_template_and_not_any_word(
    template: str | None, *, switched: bool
) -> None:
    assert has_switch(template) is switched


@pytest.mark.parametrize(
    ("template", "rendered", "asked", "found"),
    [
        (QWEN, "<|im_start|>assistant\n<think>\n\n</think>\n\n", False, False),
        (QWEN, "<|im_start|>assistant\n", True, True),
        # The switch is off, but the template still opens a thought.
        (QWEN, "<|im_start|>assistant\n<think>\n", False, True),
        (ALWAYS, "<|Assistant|><think>\n", False, True),
        (PLAIN, "hello", False, None),
        (PLAIN, "hello", True, None),
    ],
)
def test_the_state_is_that_of_the_rendered_prompt(
    template: str, rendered: str, *, asked: bool, found: bool | None
) -> None:
    assert state(template, rendered, asked=asked) is found


def test_a_template_gets_its_switch_under_every_name() -> None:
    assert arguments(thinking=False) == {"enable_thinking": False, "thinking": False}


def test_thinking_is_off_by_default_and_has_room_when_it_is_on() -> None:
    usual, thinking = campaign(), campaign(Options(thinking=True))

    assert (usual.settings.thinking, usual.settings.max_output_tokens) == (False, 96)
    assert (thinking.settings.thinking, thinking.settings.max_output_tokens) == (True, 1024)
    assert campaign(Options(thinking=True, max_output_tokens=300)).settings.max_output_tokens == 300


def test_a_target_that_thinks_is_another_target() -> None:
    made = sample()
    on, off = (
        identify(replace(made, settings=replace(made.settings, thinking=each)))
        for each in (True, False)
    )

    assert on.target_label == "Sample-7B, thinking"
    assert on.target != off.target
    assert on.address_stem != off.address_stem
    assert off == identify(made)
