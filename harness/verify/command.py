"""`draftmap verify`: check whether a result's answers and counters fit its weights."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import typer
from msgspec import structs

from harness import console
from harness.campaign import suite as suites
from harness.campaign.options import Options
from harness.command_options import offers_fields
from harness.errors import NO, NOT_MEASURED, BadInputError
from harness.options import comma_separated, option
from harness.record.read import result
from harness.run.chosen_engine import EngineOptions
from harness.verify.verification import repeat, require_same_weights, verdict
from schemas.codec import encode
from schemas.submission import Axes, Model, Submission
from schemas.vocabulary import RUNNERS, WEIGHTS

PROMPTS = 2
# Server arguments are not repeated: the file's author could pass any argument to this machine.
_AXES = [each.name for each in fields(Axes) if each.name != "server_arguments"]
# The exit code of each verdict, and its sentence.
_VERDICTS = {
    "agrees": (0, "Agrees: answers and rounds match these weights."),
    "differs": (NO, "Differs: answers or rounds do not match these weights."),
    "differs-by-engine": (
        NOT_MEASURED,
        (
            "Differs, but so do the engine builds or backends, and acceptance depends on them. "
            "Repeat with the build and backend of the result."
        ),
    ),
    "not-comparable": (
        NOT_MEASURED,
        "Not comparable: the local engine renders the prompts differently.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions(EngineOptions):
    """The weights, and the prompts to repeat."""

    target: str | None = option(
        (
            "The target's weights: a GGUF file or a model name. Default: the weights that match "
            "the digest in the file."
        ),
        short="-m", metavar="MODEL", panel="Models", usual=True,
    )  # fmt: skip
    drafts: tuple[str, ...] = option(
        "The weights of a draft; repeat the option for each draft in the file, in the same order.",
        name="draft", short="-md", metavar="DRAFT", panel="Models", default=(), usual=True,
    )  # fmt: skip
    prompts: tuple[str, ...] = option(
        f"Ids of the prompts to repeat. Default: {PROMPTS} random prompts.",
        metavar="PROMPTS", parse=comma_separated, default=(), usual=True,
    )  # fmt: skip

    def campaign_options(self, submission: Submission) -> Options:
        """Return the options of a run that repeats the result, or raise `BadInputError`."""
        settings = submission.settings
        methods = [arm.method for arm in submission.arms if arm.role == "speculation"]
        _require_repeatable(submission, self.prompts)
        ids = [each.id for each in submission.suite.prompts]
        # The prompts are chosen unpredictably, so that nobody can prepare for them.
        some = tuple(SystemRandom().sample(ids, min(PROMPTS, len(ids))))
        return Options(
            target=self.target or _weights(submission.target, "--target"),
            drafts=self.drafts or tuple(_weights(each, "--draft") for each in submission.drafts),
            methods=tuple(dict.fromkeys(structs.replace(each, draft=None) for each in methods)),
            suite=_suite(submission),
            prompts=self.prompts or some,
            max_output_tokens=settings.max_output_tokens,
            context_tokens=settings.context_tokens,
            thinking=bool(settings.thinking),
            blocks=1,
            **{name: getattr(settings, name) for name in _AXES},
        )


@console.reports_errors
@offers_fields
def verify(
    file: Annotated[Path, typer.Argument(help="A result file.", metavar="FILE")],
    options: VerifyOptions,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Greedy answers and their number of rounds depend on weights and prompt, not on the machine.

    The command repeats two random prompts with each arm. Exit codes: 0 the answers agree, 1 they
    differ, 3 they could not be compared. At near-ties, single answers may differ on another
    machine. Times are not compared.

    - `python -m harness verify RESULT.json`

    - `python -m harness verify RESULT.json --target big.gguf --draft small.gguf`
    """
    submission = result(file)
    asked = options.campaign_options(submission)
    runner = options.runner or submission.engine.runner
    own = runner if runner in RUNNERS else None
    engine = replace(options, runner=own).engine(asked)
    campaign = engine.campaign(asked, fetch=True)
    require_same_weights(submission, campaign)
    found = []
    for each in repeat(submission, campaign, engine.adapter().open, console.say):
        found.append(each)
        if not json:
            console.print_lines([f"{each.arm} on {each.prompt}: {each.line}"])
    said = verdict(found)
    code, words = _VERDICTS[said]
    if json:
        console.print_json({"verdict": said, "repeated": encode(found)})
    else:
        console.print_lines([words])
    raise typer.Exit(code)


def _require_repeatable(submission: Submission, prompts: tuple[str, ...]) -> None:
    ids = [each.id for each in submission.suite.prompts]
    if unknown := [each for each in prompts if each not in ids]:
        raise BadInputError(
            f"the result has no prompt {unknown[0]!r}; it has {', '.join(ids[:9])}, …"
        )
    if submission.settings.sampling != "greedy":
        message = "its answers were sampled, so another run gives different answers"
    elif not any(each.output_sha256 for each in submission.trials):
        message = (
            "it has no answer digests; imported results and results from some servers lack them"
        )
    elif submission.settings.context_depth_tokens is not None:
        message = "its prompts were padded to a context depth, which this check cannot repeat"
    else:
        return
    raise BadInputError(f"this result cannot be verified: {message}")


def _weights(model: Model, flag: str) -> str:
    known = WEIGHTS.get(model.sha256 or "")
    if known is None:
        raise BadInputError(
            f"the weights of {model.name} {model.quantisation} are not among the known models; "
            f"use {flag} to give the GGUF file (SHA-256 {model.sha256 or 'not stated'})"
        )
    return known.preset


def _suite(submission: Submission) -> str:
    own = submission.suite
    for name in suites.known_ids():
        if suites.load(name).sha256 == own.sha256:
            return name
    raise BadInputError(
        f"the installed version does not contain the prompts of the suite {own.id} {own.version}"
    )
