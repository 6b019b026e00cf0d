"""An answer that is no longer the JSON or the calls that its prompt asks for is noticed."""

import pytest

from harness.campaign.answer_form import form_of, require_schema
from harness.campaign.model import SuitePrompt
from harness.campaign.suite import load

BOOK = SuitePrompt(
    id="json-book",
    task="json",
    text="A book as JSON.",
    schema='{"type": "object", "required": ["title", "pages"], "additionalProperties": false,'
    ' "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}}}',
)
LAMP = SuitePrompt(
    id="tools-lamp",
    task="tools",
    text="Light, please.",
    schema='[{"name": "set_lamp", "parameters": {"type": "object", "required": ["lamp"],'
    ' "properties": {"lamp": {"type": "string"}, "percent": {"maximum": 100}}}}]',
)
PETS = SuitePrompt(id="json-pets", task="json", text="Three pets as JSON.")
CHAT = SuitePrompt(id="chat-1", task="chat", text="Hello")
ON = '{"name": "set_lamp", "arguments": {"lamp": "desk"}}'


@pytest.mark.parametrize(
    ("prompt", "text", "cut", "form"),
    [
        (BOOK, '{"title": "Moss", "pages": 90}', False, "valid"),
        (BOOK, '```json\n{"title": "Moss", "pages": 90}\n```\nI hope it helps!', False, "valid"),
        (BOOK, '<think>{oh</think>{"title": "Moss", "pages": 90}', False, "valid"),
        (BOOK, '{"title": "Moss", "pages": 90', False, "invalid-json"),
        (BOOK, '{"title": "Moss" "pages": 90}', False, "invalid-json"),
        (BOOK, '{"title": "Moss", "pages": 90]', True, "invalid-json"),
        (BOOK, "A book about moss.", True, "invalid-json"),
        (BOOK, '{"title": "Moss"}', False, "wrong-schema"),
        (BOOK, '{"title": "Moss", "pages": "many"}', False, "wrong-schema"),
        # Cut off: what is missing may still have come, what is wrong is wrong.
        (BOOK, '{"title": "Mo', True, "valid"),
        (BOOK, '{"title": "Moss", "pag', True, "valid"),
        (BOOK, '{"titel": "Moss", "pag', True, "wrong-schema"),
        (BOOK, '{"title": 3, "pag', True, "wrong-schema"),
        (BOOK, "[" * 70, True, "invalid-json"),
        (PETS, '[{"name": "Rex"}]', False, "valid"),
        (PETS, '[{"name": "Rex"]', False, "invalid-json"),
        (BOOK, "".join(f"[{n}," for n in range(99)), True, "invalid-json"),
        (LAMP, f"[{ON}, {ON}]", False, "valid"),
        (LAMP, f"[{f'{ON}, ' * 9}", True, "valid"),
        (LAMP, "and so on " * 9, True, "loop"),
        (LAMP, f"First the desk:\n{ON}\nThen the hall:\n{ON}", False, "valid"),
        (LAMP, 'call: set_lamp({"lamp": "desk"})', False, "valid"),
        (LAMP, 'call: set_lamp({"percent": 5})', False, "wrong-schema"),
        (LAMP, 'call: set_lamp({"percent": 5', True, "valid"),
        (LAMP, "I do not know.", False, "invalid-json"),
        (LAMP, "Let me think about it.", True, None),
        (LAMP, f"[{ON}, {ON.replace('set_lamp', 'set_lamb')}", True, "wrong-schema"),
        (LAMP, "[" + ON.replace('"lamp"', '"lump"') + ", {", True, "wrong-schema"),
        (LAMP, f'{ON}\n{{"name": "set_lamp", {ON}', True, "invalid-json"),
        (LAMP, '{"name": "dim", "parameters": {}}\n' + ON, False, "valid"),
        (CHAT, "Good morning to you and all of yours.", False, "valid"),
        (CHAT, "Well, " + "and then we went on. " * 4, True, "loop"),
        (CHAT, "No " * 20, True, "valid"),
        (CHAT, "No " * 21, True, "loop"),
        (CHAT, "  ", True, None),
    ],
)
def test_an_answer_is_what_its_prompt_asks_for_or_says_what_is_wrong(
    prompt: SuitePrompt,
    text: str,
    cut: bool,  # noqa: FBT001 - a parameter of the cases above
    form: str | None,
) -> None:
    assert form_of(prompt, text, cut=cut) == form


def test_tools_without_parameters_are_refused_when_a_suite_is_read() -> None:
    with pytest.raises(ValueError, match="json-book: its schema is not a list of tools"):
        require_schema(SuitePrompt(id="json-book", task="tools", text="x", schema='[{"a": 1}]'))


def test_an_example_call_of_the_core_suite_is_valid() -> None:
    prompt = next(each for each in load("core").prompts if each.id == "tools-lights-at-home")
    call = '{"name": "set_lamp", "arguments": {"lamp": "hall-1", "brightness_percent": %s}}'

    assert form_of(prompt, f"[{call % 20}, {call % 6}"[:-3], cut=True) == "valid"
    assert form_of(prompt, f"[{call % 20}, {call % 120}, ", cut=True) == "wrong-schema"
