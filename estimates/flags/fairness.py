"""Flags about unfair comparisons: not interleaved, on one server start, with other arguments."""

import re
from collections.abc import Sequence

from estimates.flags.observation import FlagEvidence, Observation, only
from schemas.vocabulary import RUNNERS

# Arguments of speculation, and arguments that make no request faster: memory reserved for drafts,
# ports, logs and the like.
_MAY_DIFFER = re.compile(
    r".*(?:spec|draft|ngram|lookup|lookahead|log|metrics|seed).*"
    r"|sc(?:\..*)?|md|ngld|cd|c[tm]\w{1,2}d|ncmoed|devd|tb?d|hfr?d|otd|port|lv"
    r"|gpu-memory-utilization|mem-fraction-static",
    re.DOTALL,
)
_HIDDEN = "…"


def not_interleaved(evidence: FlagEvidence) -> Observation | None:
    """Arms ran one after another, or in an unknown order: drift can look like a speedup."""
    design = evidence.submission.design
    if design.order in ("sequential", "unknown") and design.interleaved is None:
        return Observation(case=design.order)
    return None


def one_start(evidence: FlagEvidence) -> Observation | None:
    """Each server was started once: arms shared one, or the harness did not start the servers."""
    submission = evidence.submission
    drafting = [arm for arm in submission.arms if arm.role == "speculation" and arm.outcome == "ok"]
    engine, turns = RUNNERS.get(submission.engine.runner), submission.design.interleaved
    if drafting and turns == "prompt" and engine and engine.interleaved == "block":
        return Observation(case="one_server")
    served = submission.engine.runner == "openai" and all(arm.argv is None for arm in drafting)
    return Observation() if drafting and (submission.tier == "imported" or served) else None


def arguments_differ(evidence: FlagEvidence) -> Observation | None:
    """An arm's server had different arguments from its baseline's, apart from speculation."""
    arms = {arm.id: arm for arm in evidence.submission.arms}
    found: list[tuple[str, str]] = []
    for arm in arms.values():
        baseline = arms.get(arm.baseline or "")
        if baseline is None or not arm.argv or not baseline.argv:
            continue
        own, theirs = _settings(arm.argv), _settings(baseline.argv)
        for name in sorted(name for name in own | theirs if own.get(name) != theirs.get(name)):
            ours, base = (each.get(name, "none") or "on" for each in (own, theirs))
            found.append((arm.id, f"{name} {ours} instead of {base} with {arm.id}"))
    differences, own_arm = [text for _, text in found], only(name for name, _ in found)
    return Observation(differences=differences, arm=own_arm) if found else None


def _settings(argv: Sequence[str]) -> dict[str, str]:
    """The arguments by name, without those that may differ; a switch has an empty value."""
    found: dict[str, str] = {}
    name = ""
    for word in argv:
        if re.match(r"--?[A-Za-z]", word):
            name, _, value = word.lstrip("-").replace("_", "-").partition("=")
            found[name] = value
        elif name and word != _HIDDEN:
            found[name] = f"{found[name]} {word}".strip()
    return {name: value for name, value in found.items() if not _MAY_DIFFER.fullmatch(name)}
