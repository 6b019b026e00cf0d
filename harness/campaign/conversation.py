"""Reads the text of a prompt as the messages of a conversation."""

import re

_TURN = re.compile(r"^<\|(user|assistant)\|>\n", re.MULTILINE)


def messages(text: str) -> list[dict[str, str]]:
    """Return the messages in a prompt: the user's up to a line `<|assistant|>` or `<|user|>`.

    Such a line names the speaker of the text below; the line break before that line is dropped.
    """
    first, *rest = _TURN.split(text)
    turns = [("user", first), *zip(rest[::2], rest[1::2], strict=True)]
    parts = [(role, part.removesuffix("\n")) for role, part in turns[:-1]] + turns[-1:]
    return [{"role": role, "content": part} for role, part in parts]
