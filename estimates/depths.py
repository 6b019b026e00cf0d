"""Name an arm by its method, its depth and its draft, on any machine.

An engine may adapt the depth, stop a draft early (`p_min`), or try several methods one after
another. The label of such an arm names whatever controls the depth instead of a depth n. If the
engine reports the depth of each round, the range of depths is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from estimates.arguments import of_arm
from estimates.decomposition import drafted_lengths
from schemas.codec import slug
from schemas.method import limit
from schemas.submission import Arm, Method, Model, Submission, Trial
from schemas.vocabulary import METHODS

_DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSetting:
    """The setting that an arm measures, whatever the machine: its method, depth and draft.

    `setting` identifies the arm in a URL; `draft` is the slug of `draft_label`. An arm whose depth
    varies has no `depth`: `varied_by` gives the cause, and `depths` the range that was used.
    """

    arm: str
    setting: str
    method_label: str
    depth: int | None = None
    varied_by: str | None = None
    depths: str | None = None
    draft: str | None = None
    draft_label: str | None = None


def setting(arm: Arm, submission: Submission) -> ArmSetting:
    """The method, depth and draft of an arm of a submission, with their labels."""
    name, depth, changed = label(arm.method), fixed(arm.method), varied_by(arm.method)
    draft = arm.method.draft
    model = next((model for model in submission.drafts if model.id == draft), None)
    generation = _generation(arm.method, model) if submission.engine.runner == "openai" else None
    name = ", ".join((name, *filter(None, (generation,)), *of_arm(arm, submission)))
    model_label = None if model is None else f"{model.name} {model.quantisation}"
    draft_slug = None if model_label is None else slug(model_label, limit=None)
    parts = (slug(name, limit=None), None if depth is None else f"n{depth}", draft_slug)
    trials = [trial for trial in submission.trials if changed and trial.arm == arm.id]
    return ArmSetting(
        arm=arm.id,
        setting="-".join(part for part in parts if part is not None),
        method_label=name,
        depth=depth,
        varied_by=changed,
        depths=spread(arm.method, trials),
        draft=draft_slug,
        draft_label=model_label,
    )


def fixed(method: Method) -> int | None:
    """The depth of a method with a fixed depth; `None` for other methods."""
    return None if varied_by(method) else limit(method)


def varied_by(method: Method) -> str | None:
    """The reason for a varying depth, in words; `None` for a fixed depth."""
    if method.controller:
        return f"adaptive depth ({method.controller})"
    if method.adaptive:
        return "adaptive depth"
    if method.chain:
        return "depth set by the method that drafts"
    return f"p-min {method.p_min:g}" if method.p_min else None


def label(method: Method) -> str:
    """A method's label, such as `MTP`, `MTP, adaptive depth (autotune)` or `A, then B`."""
    if method.chain:
        return ", then ".join(METHODS[each].label for each in method.chain)
    tree = f"tree of {method.nodes}" if method.nodes else None
    name = method.name or METHODS[method.type].label
    return ", ".join(filter(None, (name, varied_by(method), tree)))


def _generation(method: Method, draft: Model | None) -> str | None:
    """The drafter's generation, if a server has one name for several and does not state which."""
    known = METHODS[method.type].generations
    about = f"{draft.name} {draft.architecture}".lower() if draft else ""
    unknown = "generation unknown" if known else None
    return next((named for word, named in known.items() if word in about), unknown)


def spread(method: Method, trials: Sequence[Trial]) -> str | None:
    """The median and range of drafted lengths, in words; `None` if the depth is fixed."""
    if varied_by(method) is None:
        return None
    finished = [trial for trial in trials if trial.outcome == "ok"]
    lengths = drafted_lengths(finished) or ()
    drafted = [depth for depth, rounds in enumerate(lengths) if depth and rounds]
    if not drafted:
        most = limit(method)
        return None if most is None else f"up to {most}"
    rounds = [depth for depth in drafted for _ in range(lengths[depth])]
    middle = rounds[(len(rounds) - 1) // 2]
    return f"median {middle}, {drafted[0]}{_DASH}{drafted[-1]}"
