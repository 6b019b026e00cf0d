"""Flags about unfair comparisons: not interleaved, on one server start, with other arguments."""

from collections.abc import Sequence

from estimates.arguments import DECLARED, read
from estimates.flags.observation import FlagEvidence, Observation, only
from schemas.public_arguments import EFFECTS


def not_interleaved(evidence: FlagEvidence) -> Observation | None:
    """Arms ran one after another, or in an unknown order: drift can look like a speedup."""
    design = evidence.submission.design
    if design.order in ("sequential", "unknown") and design.interleaved is None:
        return Observation(case=design.order)
    return None


def one_start(evidence: FlagEvidence) -> Observation | None:
    """Each server was started once: the harness did not start the servers."""
    submission = evidence.submission
    drafting = [arm for arm in submission.arms if arm.role == "speculation" and arm.outcome == "ok"]
    served = submission.engine.runner == "openai" and all(arm.argv is None for arm in drafting)
    return Observation() if drafting and (submission.tier == "imported" or served) else None


def arguments_differ(evidence: FlagEvidence) -> Observation | None:
    """An arm's server had different arguments from its baseline's, apart from speculation."""
    arms, engine = {a.id: a for a in evidence.submission.arms}, evidence.submission.engine.name
    found: list[tuple[str, str]] = []
    for arm in arms.values():
        baseline = arms.get(arm.baseline or "")
        if baseline is None or not arm.argv or not baseline.argv:
            continue
        own, theirs = _settings(arm.argv, engine), _settings(baseline.argv, engine)
        for name in sorted(name for name in own | theirs if own.get(name) != theirs.get(name)):
            ours, base = (each.get(name, "none") or "on" for each in (own, theirs))
            found.append((arm.id, f"{name} {ours} instead of {base} with {arm.id}"))
    differences, own_arm = [text for _, text in found], only(name for name, _ in found)
    return Observation(differences=differences, arm=own_arm) if found else None


def unknown_options(evidence: FlagEvidence) -> Observation | None:
    """A server had options whose effect on a result is unknown."""
    submission = evidence.submission
    told = [submission.settings.server_arguments or ()]
    told += [arm.argv or () for arm in submission.arms if submission.engine.runner == "openai"]
    words = [word for own in told for each in own for word in each.split(maxsplit=1)]
    found = (a for a in read(words, submission.engine.name) if a.effect == "unknown")
    options = [str(each) for each in found]
    return Observation(options=options) if options else None


def _settings(argv: Sequence[str], engine: str) -> dict[str, str]:
    """The arguments by name that separate results, except those of speculation.

    If an engine's table lacks an argument, it has the effect that another engine's table states.
    """
    told = [each for each in read(argv, engine) if not each.name.startswith((".", "spec"))]
    unknown = (each for each in told if each.effect == "unknown")
    declared = [each for each in told if each.effect in DECLARED]
    declared += [each for each in unknown if EFFECTS.get(each.name) in DECLARED]
    return {each.name: each.value for each in declared}
