"""Store a target's answers as JSON lines, to count the tokens that a draft predicts correctly.

A result contains only digests of answers. These lines contain texts and token ids, stay on this
machine, and are in a file that no command sends.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import orjson
from msgspec import Meta, Struct

from harness import console, files
from harness.campaign.model import Campaign, Id, SuitePrompt
from harness.errors import BadInputError, MachineError, unreadable
from harness.run.journal import EngineFact, Fact, TrialFact
from harness.runners.base import Generation
from schemas.codec import encode
from schemas.submission import Model

_SUFFIX = ".jsonl"  # results end in .json, so the two are not confused
_FORM = 'each line must be an object such as {"prompt": "…", "answer": "…"}'
_Ids = Annotated[tuple[Annotated[int, Meta(ge=0, lt=2**31)], ...], Meta(min_length=1)]


class KeptAnswer(Struct, frozen=True, kw_only=True):
    """A prompt as the user typed it, and the answer as token ids or only as text.

    `prompt_ids` are the ids of the whole conversation, `target` wrote the answer using a chat
    template with the digest `chat_template_sha256`, and `max_output_tokens` was the answer's limit.
    """

    prompt: Annotated[str, Meta(pattern=r"\S")]
    answer: str | None = None
    id: Id | None = None
    task: Id = "other"
    prompt_ids: _Ids | None = None
    tokens: _Ids | None = None
    max_output_tokens: int = 0
    target: Model | None = None
    chat_template_sha256: str | None = None


def require_free(path: Path | None, *, replaced: bool = False) -> None:
    """Raise `BadInputError` if answers cannot be stored at a path; call it before measuring."""
    if path is None:
        return
    problem = None
    if path.suffix != _SUFFIX:
        problem = f"name a file that ends in {_SUFFIX}"
    elif not path.absolute().parent.is_dir():
        problem = f"there is no folder {path.parent}; create it first"
    elif path.exists() and not replaced:
        problem = "the file already exists; name another file, or delete this file first"
    if problem:
        raise BadInputError(f"--keep-answers {path}: {problem}")


def require_comparable(path: Path, *, greedy: bool, resumed: bool) -> None:
    """Raise `BadInputError` if a run cannot store its answers at a path."""
    require_free(path, replaced=resumed)
    if not greedy:
        raise BadInputError(
            "--keep-answers works only with greedy decoding; leave out --temperature"
        )


def keep(path: Path, campaign: Campaign, facts: Sequence[Fact]) -> None:
    """Store the answers of a run, and tell the user. Raises `MachineError` if writing fails."""
    write(path, of_campaign(campaign, facts))
    console.say(f"Answers (they stay on this machine): {path}")


def kept(
    campaign: Campaign, prompt: SuitePrompt, answer: Generation | TrialFact, template: str | None
) -> KeptAnswer:
    """Return, in the stored form, the answer that a campaign's target gave to a suite prompt."""
    return KeptAnswer(
        id=prompt.id,
        task=prompt.task,
        prompt=prompt.text,
        answer=answer.text,
        prompt_ids=answer.prompt_ids,
        tokens=answer.tokens,
        max_output_tokens=campaign.settings.max_output_tokens,
        target=campaign.target.model,
        chat_template_sha256=template,
    )


def of_campaign(campaign: Campaign, facts: Sequence[Fact]) -> Iterator[KeptAnswer]:
    """Yield the baseline's first answer to each prompt, in the order of the suite."""
    baselines = {arm.id for arm in campaign.arms if arm.role == "baseline"}
    templates = [f.settings.chat_template_sha256 for f in facts if isinstance(f, EngineFact)]
    trials = [f for f in facts if isinstance(f, TrialFact) and f.trial.arm in baselines]
    for prompt in campaign.suite.prompts:
        own = (f for f in trials if f.trial.prompt == prompt.id and (f.tokens or f.text))
        if (first := next(own, None)) is not None:
            yield kept(campaign, prompt, first, templates[-1] if templates else None)


def write(path: Path, answers: Iterable[KeptAnswer]) -> None:
    """Write answers to a file. Raises `MachineError` if writing fails."""
    try:
        with files.written(path) as part:
            part.write_bytes(b"".join(orjson.dumps(encode(each)) + b"\n" for each in answers))
    except OSError as error:
        raise MachineError(
            f"{path} cannot be written ({error.strerror}); free some space, then repeat the command"
        ) from error


def read(path: Path) -> tuple[KeptAnswer, ...]:
    """Read the answers in a file. Raises `BadInputError` naming the invalid line."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise unreadable(path, error) from error
    found: list[KeptAnswer] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=KeptAnswer))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInputError(f"{path} line {number}: {error}; {_FORM}") from error
        if not (found[-1].answer or found[-1].tokens):
            raise BadInputError(
                f"{path} line {number}: the object has neither an answer nor tokens; {_FORM}"
            )
    if not found:
        raise BadInputError(f"{path} has no answers; {_FORM}")
    return tuple(found)
