"""Keep the answers that a target wrote, one line of JSON each, to count what a draft gets of them.

A result has digests of answers only. These lines have texts and token ids, stay on this machine,
and are in a file that no command sends.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta, Struct

from harness import files
from harness.campaign.model import Campaign, Id, SuitePrompt
from harness.errors import BadInputError, MachineError, unreadable
from harness.run.journal import EngineFact, Fact, TrialFact

_SUFFIX = ".jsonl"
_FORM = 'a line is an object such as {"prompt": "…", "answer": "…"}'
# Bounds of the format for a token id, and of ids in a text.
_Token = Annotated[int, Meta(ge=0, lt=2**31)]
_Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class Writer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The target that wrote an answer: its name, and digests of what its tokens depend on."""

    name: str
    sha256: _Digest | None = None
    tokenizer_sha256: _Digest | None = None
    chat_template_sha256: _Digest | None = None


class KeptAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A prompt as the user typed it, and its answer: as token ids, or only as a text.

    `prompt_ids` are those of the whole conversation. `max_output_tokens` is the longest answer
    that was asked for; without it the answer was cut off where it ends.
    """

    prompt: Annotated[str, Meta(pattern=r"\S")]
    answer: str | None = None
    id: Id | None = None
    task: Id = "other"
    prompt_ids: Annotated[tuple[_Token, ...], Meta(min_length=1)] | None = None
    tokens: Annotated[tuple[_Token, ...], Meta(min_length=1)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    target: Writer | None = None


def require_free(path: Path | None, *, replaced: bool = False) -> None:
    """Raise `BadInputError` where answers cannot be kept; call it before measuring."""
    if path is None:
        return
    if path.suffix != _SUFFIX:  # a result is JSON, and no two files are mistaken for each other
        message = f"--keep-answers {path}: name a file that ends in {_SUFFIX}"
    elif not path.absolute().parent.is_dir():
        message = f"--keep-answers {path}: there is no folder {path.parent}; make it first"
    elif path.exists() and not replaced:
        message = f"--keep-answers {path}: it already exists; name another one, or delete it first"
    else:
        return
    raise BadInputError(message)


class Answered(Protocol):
    """What a trial or a session knows of an answer."""

    @property
    def tokens(self) -> tuple[int, ...] | None: ...
    @property
    def text(self) -> str | None: ...
    @property
    def prompt_ids(self) -> tuple[int, ...] | None: ...


def kept(
    campaign: Campaign, prompt: SuitePrompt, answer: Answered, chat_template_sha256: str | None
) -> KeptAnswer:
    """The answer of the campaign's target to a prompt of its suite."""
    model = campaign.target.model
    return KeptAnswer(
        id=prompt.id,
        task=prompt.task,
        prompt=prompt.text,
        answer=answer.text,
        prompt_ids=answer.prompt_ids,
        tokens=answer.tokens,
        max_output_tokens=campaign.settings.max_output_tokens,
        target=Writer(
            name=f"{model.name} {model.quantisation}",
            sha256=model.sha256,
            tokenizer_sha256=model.tokenizer_sha256,
            chat_template_sha256=chat_template_sha256,
        ),
    )


def of_campaign(campaign: Campaign, facts: Sequence[Fact]) -> Iterator[KeptAnswer]:
    """The first answer of the baseline to each prompt, in the order of the suite."""
    baselines = {arm.id for arm in campaign.arms if arm.role == "baseline"}
    first: dict[str, TrialFact] = {}
    templates: list[str | None] = [None]
    for fact in facts:
        if isinstance(fact, EngineFact):
            templates.append(fact.settings.chat_template_sha256)
        elif (
            isinstance(fact, TrialFact)
            and fact.trial.arm in baselines
            and (fact.tokens or fact.text)
        ):
            first.setdefault(fact.trial.prompt, fact)
    for prompt in campaign.suite.prompts:
        if prompt.id in first:
            yield kept(campaign, prompt, first[prompt.id], templates[-1])


def write(path: Path, answers: Iterable[KeptAnswer]) -> None:
    """Write answers to a file. Raises `MachineError` where the disk does not take them."""
    lines = b"".join(msgspec.json.encode(each) + b"\n" for each in answers)
    try:
        with files.written(path) as part:
            part.write_bytes(lines)
    except OSError as error:
        message = f"{path} cannot be written ({error.strerror}); free some space, then repeat it"
        raise MachineError(message) from error


def read(path: Path) -> tuple[KeptAnswer, ...]:
    """The answers in a file. Raises `BadInputError` naming the line that is wrong."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise unreadable(path, error) from error
    found = tuple(
        _answer(path, number, line) for number, line in enumerate(lines, 1) if line.strip()
    )
    if not found:
        message = f"{path} has no answers; {_FORM}"
        raise BadInputError(message)
    return found


def _answer(path: Path, number: int, line: bytes) -> KeptAnswer:
    try:
        found = msgspec.json.decode(line, type=KeptAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"{path} line {number}: {error}; {_FORM}"
        raise BadInputError(message) from error
    if not (found.answer or found.tokens):
        message = f"{path} line {number}: it has neither an answer nor tokens; {_FORM}"
        raise BadInputError(message)
    return found
