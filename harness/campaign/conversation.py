"""Splits the text of a prompt into the messages of a conversation."""

import re

_TURN = re.compile(r"^<\|(user|assistant)\|>\n", re.MULTILINE)


def messages(text: str) -> list[dict[str, str]]:
    """Return the messages in a prompt; a line `<|assistant|>` or `<|user|>` begins a new message.

    The first message is the user's. Such a line names the speaker of the text below it; the line
    break before it is dropped.
    """
    first, *rest = _TURN.split(text)
    turns = [("user", first), *zip(rest[::2], rest[1::2], strict=True)]
    parts = [(role, part.removesuffix("\n")) for role, part in turns[:-1]] + turns[-1:]
    return [{"role": role, "content": part} for role, part in parts]
