"""Read the user's own prompts, one a line or as chats in JSON lines, as a suite for the target.

They stay in the memory of this machine's processes: messages name lines and never quote them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from harness.campaign.model import PromptSuite, SuitePrompt
from harness.errors import BadInputError, unreadable
from harness.files import expanded
from schemas.codec import UNREADABLE

_FORM = (
    'each line must be a prompt, or an object such as {"prompt": "..."} or {"messages": '
    '[{"role": "user", "content": "..."}]}'
)
_MAX_OUTPUT_TOKENS = 128


class _Message(msgspec.Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    content: str


class _Chat(msgspec.Struct, frozen=True):
    """A line in JSON: a prompt or the messages of a conversation."""

    prompt: str = ""
    messages: tuple[_Message, ...] = ()

    @property
    def text(self) -> str:
        """The conversation up to the last message of the user; a system message is left out."""
        own = [each for each in self.messages if each.role != "system"]
        while own and own[-1].role != "user":
            own.pop()
        roles = [each.role for each in own]
        if roles != ["user", *["assistant", "user"] * (len(roles) // 2)]:
            own = own[-1:]  # messages of one role in a row are no conversation of turns
        first, *rest = own or (_Message("user", self.prompt),)
        return first.content + "".join(f"\n<|{each.role}|>\n{each.content}" for each in rest)


def suite_of(path: Path) -> PromptSuite:
    """Return the prompts of a file. Raises `BadInputError`, which names a line and no text."""
    try:
        lines = expanded(str(path)).read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path} is not UTF-8; save it as UTF-8") from error
    texts = tuple(_texts(path, lines))
    if not texts:
        raise BadInputError(f"{path} has no prompts; {_FORM}")
    return PromptSuite(
        id="own-texts",
        version="1.0.0",
        max_output_tokens=_MAX_OUTPUT_TOKENS,
        quick_max_output_tokens=_MAX_OUTPUT_TOKENS,
        prompts=tuple(
            SuitePrompt(id=f"text-{number}", task="other", text=text)
            for number, text in enumerate(texts, 1)
        ),
    )


def _texts(path: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        text = line
        if line.startswith(("{", "[")):
            try:
                text = msgspec.json.decode(line, type=_Chat).text
            except UNREADABLE:
                raise BadInputError(f"{path} line {number} is not such a chat; {_FORM}") from None
            if not text.strip():
                raise BadInputError(f"{path} line {number} has no message of the user; {_FORM}")
        if text.strip():
            yield text
