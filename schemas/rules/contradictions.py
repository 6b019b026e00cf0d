"""Rules on statements that contradict each other: models, devices, sampling, context, dates."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import get_args, get_type_hints

from schemas.finding import Finding, Violation, shown
from schemas.method import DRAFT_MODEL
from schemas.model_sizes import contradicts_label, contradicts_name
from schemas.submission import Engine, Model, Submission

CLOCKS_DIFFER = timedelta(days=1)
_NO_GPU_NEEDED = ("cpu", "npu", "openvino", "other")
# The tokens by which a prompt may be shorter than its depth: text is added in whole words.
LEAST_FILL_GAP = 16
FILL_GAP = 64


def quantisation_fits_size(submission: Submission) -> Iterator[Violation]:
    """A file's number of bytes per parameter is in the range for its quantisation."""
    for path, model in models_of(submission):
        found = contradicts_label(model)
        if found is None:
            continue
        bits, (least, most) = found
        message = (
            f"{model.file_bytes} bytes for {model.parameters} parameters are {bits:.1f} bits per "
            f"parameter, but {model.quantisation} files have {least:g} to {most:g}; correct the "
            "label, file_bytes or parameters"
        )
        yield f"{path}.quantisation", message


def parameters_fit_name(submission: Submission) -> Iterator[Violation]:
    """The number of parameters agrees with the model's name, within a factor of 5.

    The rule applies only if the weights file is not described, as in imports. The name of a head
    states its target's size, so only targets and draft models are checked.
    """
    drafts = {arm.method.draft for arm in submission.arms if arm.method.type == DRAFT_MODEL}
    for path, model in models_of(submission):
        if path != "$.target" and model.id not in drafts:
            continue
        named = contradicts_name(model)
        if named is not None:
            message = (
                f"{model.parameters} parameters, but the name {shown(model.name)} states {named}; "
                "correct whichever is wrong"
            )
            yield f"{path}.parameters", message


def active_within_total(submission: Submission) -> Iterator[Violation]:
    """A model uses no more parameters per token than it has."""
    for path, model in models_of(submission):
        total, active = model.parameters, model.active_parameters
        if total is not None and active is not None and active > total:
            message = (
                f"{active} active parameters, but only {total} parameters in total; correct one "
                "of the two numbers"
            )
            yield f"{path}.active_parameters", message


def backend_has_device(submission: Submission) -> Iterator[Violation]:
    """With a GPU backend, the devices that the engine lists include a GPU."""
    engine = submission.engine
    kinds = {device.kind for device in engine.devices or ()}
    if engine.backend in _NO_GPU_NEEDED or kinds != {"cpu"}:
        return
    message = (
        f"the backend is {engine.backend}, but the engine lists only a CPU; give the backend "
        "that ran, or use the file as the harness wrote it"
    )
    yield "$.engine.backend", message


def sampling_fits_temperature(submission: Submission) -> Iterator[Violation]:
    """A temperature or a seed is given only if sampling is not greedy."""
    settings = submission.settings
    drawn = settings.temperature is not None or settings.sampling_seed is not None
    if settings.sampling == "greedy" and drawn:
        message = (
            "sampling is greedy, but a temperature or a seed is given; write other, or remove both"
        )
        yield "$.settings.sampling", message


def prompts_fill_depth(submission: Submission) -> Iterator[Violation]:
    """If a context depth is stated, every prompt has that length or is slightly shorter."""
    depth = submission.settings.context_depth_tokens
    if depth is None:
        return
    least = depth - max(LEAST_FILL_GAP, depth // FILL_GAP)
    for index, prompt in enumerate(submission.suite.prompts):
        if prompt.tokens is not None and not least <= prompt.tokens <= depth:
            message = (
                f"{prompt.tokens} tokens, but the context depth is {depth}; correct "
                "settings.context_depth_tokens, or leave the prompt out"
            )
            yield f"$.suite.prompts[{index}].tokens", message


def backend_name_of_other(submission: Submission) -> Iterator[Violation]:
    """A backend name is given only with the backend `other`, and the list of backends lacks it."""
    engine = submission.engine
    if engine.backend_name is None:
        return
    known = get_args(get_type_hints(Engine)["backend"])
    if engine.backend != "other" or engine.backend_name in known:
        message = (
            f"the name {shown(engine.backend_name)} is given with the backend {engine.backend}; "
            "give a name only with the backend `other`, which is for backends missing from the list"
        )
        yield "$.engine.backend_name", message


def measured_in_future(submission: Submission, now: datetime) -> Iterator[Finding]:
    """A campaign cannot have ended more than a day in the future; clocks do not differ by more."""
    until = submission.measured_until
    if datetime.fromisoformat(until) > now + CLOCKS_DIFFER:
        message = (
            f"{until} is in the future (today is {now:%Y-%m-%d}); correct the clock and measure "
            "again"
        )
        yield Finding(path="$.measured_until", message=message, rule="measured-in-future")


def models_of(submission: Submission) -> Iterator[tuple[str, Model]]:
    """The target and the drafts, each with its JSON path."""
    yield "$.target", submission.target
    for index, draft in enumerate(submission.drafts):
        yield f"$.drafts[{index}]", draft
