"""Which made-up, copied or embellished results keep the format? Each with the flag that tells.

Every case changes a campaign of three blocks as somebody would who wants a better figure.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from schemas.codec import encode
from tests.pipeline.corpus_examples import RAISING, VICTIM, copied, scaled
from tests.samples import sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.submission import Submission


# ruff: noqa: E501 - one case, one line


if TYPE_CHECKING:
    Document = dict[str, Any]
    Change = Callable[[Document], None]

_TIMES = ("decode_ms", "draft_ms", "verify_ms", "wall_ms", "prompt_ms")
_MEDIANS = ("round_ms_median", "round_cpu_ms_median")
HONEST: Document = encode(sample(seed=99, contributor="eve", blocks=3))  # type: ignore[assignment]  # a submission is an object


def _every(change: Callable[[Document], None], *, arm: str | None = None) -> Change:
    """A change of every trial, or of every trial of an arm."""

    def changed(document: Document) -> None:
        for trial in document["trials"]:
            if arm in (None, trial["arm"]):
                change(trial)

    return changed


def _set(*steps: str | int, to: object) -> Change:
    def changed(document: Document) -> None:
        holder: Any = document
        for step in steps[:-1]:
            holder = holder[step]
        holder[steps[-1]] = to

    return changed


def _faster(factor: float, medians: tuple[str, ...] = _MEDIANS) -> Change:
    def changed(trial: Document) -> None:
        for name in _TIMES:
            trial[name] /= factor
        for name in medians:
            trial[name] = [time / factor for time in trial[name]]

    return changed


def _rounded(trial: Document) -> None:
    trial.update(decode_ms=round(trial["decode_ms"], -1), draft_ms=0.0, verify_ms=0.0)


def _ending_in_seven(trial: Document) -> None:
    trial["decode_ms"] = int(trial["decode_ms"]) + 0.007 + trial["order"] % 90 / 100


def _repeated(document: Document) -> None:
    """The times of the first block once more in every other one."""
    first = {(t["arm"], t["prompt"]): t for t in document["trials"] if t["block"] == 0}
    for trial in document["trials"]:
        source = first[trial["arm"], trial["prompt"]]
        trial.update({name: source[name] for name in _TIMES})


def _without_drafts(trial: Document) -> None:
    none = {"rounds": 40, "drafted": 0, "accepted": 0, "full_rounds": 0}
    trial.update(none, accepted_histogram=[40], drafted_histogram=[40])


def _another_text(trial: Document) -> None:
    trial.update(output_sha256="f" * 16, first_divergence=3, divergence_margin=2.0)


def _hungry(document: Document) -> None:
    document["settings"]["energy_method"] = "nvml"
    document["machine"]["gpus"][0]["power_limit_w"] = 100.0
    for trial in document["trials"]:
        trial["energy_j"] = trial["decode_ms"]  # a joule per millisecond is a kilowatt


def _changed(change: Change) -> Document:
    document = deepcopy(HONEST)
    change(document)
    return document


def _document(submission: Submission) -> Document:
    return encode(submission)  # type: ignore[return-value]  # a submission is an object


def _tidied(submission: Submission) -> Document:
    """The other times made to fit those that were changed, so that the format has nothing to say."""
    document = _document(submission)
    for trial in document["trials"]:
        trial.update(draft_ms=0.0, verify_ms=0.0, wall_ms=trial["decode_ms"] + 60.0)
    return document


# What was done, the document, the flag.
PLAUSIBILITY: tuple[tuple[str, Document, str], ...] = (
    ("the arm five times as fast", _changed(_every(_faster(5), arm="draft-model-n4")), "cheap-rounds"),
    ("all times a twentieth", _changed(_every(_faster(20))), "above-roofline"),
    ("rounds forgotten", _changed(_every(_faster(2, medians=()))), "clocks-disagree"),
    ("times to ten milliseconds", _changed(_every(_rounded)), "rounded-times"),
    ("last digits made up", _changed(_every(_ending_in_seven)), "uneven-digits"),
    ("one block three times", _changed(_repeated), "zero-spread"),
    ("prompts of one's own", _changed(_set("suite", "sha256", to="f" * 64)), "unknown-suite"),
    ("a suite of one's own", _changed(_set("suite", "id", to="mine")), "unknown-suite"),
    ("an arm that never drafted", _changed(_every(_without_drafts, arm="draft-model-n4")), "never-drafted"),
    ("another text", _changed(_every(_another_text, arm="draft-model-n4")), "diverged"),
    ("more power than allowed", _changed(_hungry), "above-power-limit"),
    ("more memory than there is", _changed(_set("arms", 2, "peak_memory", 0, "peak_mib", to=90_000)), "above-memory"),
    ("one arm after the other", _changed(_set("design", "order", to="sequential")), "not-interleaved"),
    ("a cheap curve", _changed(_set("probes", "verification", "step_ms_median", to=[2.0, 2.1, 2.2, 2.3, 2.4])), "probe-disagrees"),
    ("a busy machine", _changed(_set("environment", 0, "load_1min", to=90.0)), "busy-machine"),
    ("somebody's trials", _document(copied()), "copied-times"),
    ("somebody's trials, a little slower", _tidied(copied(scaled(1.07))), "copied-times"),
    ("somebody's first block", _document(copied(VICTIM.trials[:72])), "copied-times"),
    ("twice as fast as the others", _document(RAISING["far-from-peers"]), "far-from-peers"),
    ("two campaigns at a time", _document(RAISING["windows-overlap"]), "windows-overlap"),
)  # fmt: skip
