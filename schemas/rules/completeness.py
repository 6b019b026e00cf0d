"""A measured file has all fields that the harness always knows when it writes the file.

If a file from one of the harness's runners lacks such a field, the file was changed later.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from schemas import private
from schemas.finding import Violation, shown
from schemas.method import DRAFT_MODEL
from schemas.submission import Submission, Trial
from schemas.vocabulary.documents import document

_SERVER = "llama-server"  # reports only sums, and may withhold tokens
_RECORDED = document("recorded")
_MODEL: tuple[str, ...] = tuple(_RECORDED["model"])
_BY_RUNNER: dict[str, dict[str, list[str]]] = _RECORDED["runners"]


def names_visible(submission: Submission) -> Iterator[Violation]:
    """A name has a letter or a digit, and only single spaces between its words."""
    for path, text in private.texts(submission):
        is_name = path.endswith((".name", ".quantisation"))
        if is_name and (text != " ".join(text.split()) or not any(map(str.isalnum, text))):
            message = f"{shown(text)} is not a name; write letters or digits, with single spaces"
            yield path, message


def run_facts_stated(submission: Submission) -> Iterator[Violation]:
    """A measured file states engine, settings, design, models and the machine's state.

    All of these are known before the first trial.
    """
    runner = _runner(submission)
    if runner is None:
        return
    yield from _lacking(submission.engine, _BY_RUNNER[runner]["engine"], "$.engine", runner)
    drawn = () if submission.settings.sampling == "greedy" else ("temperature", "sampling_seed")
    settings = (*_RECORDED["settings"], *_BY_RUNNER[runner]["settings"], *drawn)
    yield from _lacking(submission.settings, settings, "$.settings", runner)
    yield from _lacking(submission.design, _BY_RUNNER[runner]["design"], "$.design", runner)
    yield from _lacking(submission.suite, ("sha256",), "$.suite", runner)
    yield from _lacking(submission, ("warmups", "environment"), "$", runner)
    for index, device in enumerate(submission.engine.devices or ()):
        yield from _lacking(device, ("memory_total_mib",), f"$.engine.devices[{index}]", runner)
    yield from _lacking(submission.target, _MODEL, "$.target", runner)
    for index, draft in enumerate(submission.drafts):
        yield from _lacking(draft, _MODEL, f"$.drafts[{index}]", runner)
    # Windows has no load average.
    system = submission.machine.os
    load = () if system is not None and system.family == "windows" else ("load_1min",)
    for index, snapshot in enumerate(submission.environment or ()):
        state = ("available_ram_mib", *load)
        yield from _lacking(snapshot, state, f"$.environment[{index}]", runner)


def arm_facts_stated(submission: Submission) -> Iterator[Violation]:
    """An arm that was loaded states its loading time and placement."""
    runner = _runner(submission)
    if runner is None:
        return
    for index, arm in enumerate(submission.arms):
        if arm.outcome == "failed":
            continue
        path = f"$.arms[{index}]"
        yield from _lacking(arm, _BY_RUNNER[runner]["arm"], path, runner)
        if arm.placement is not None:
            models = ("target", "draft") if arm.method.type == DRAFT_MODEL else ("target",)
            layers = tuple(f"{model}_gpu_layers_requested" for model in models)
            yield from _lacking(arm.placement, layers, f"{path}.placement", runner)


def trial_facts_stated(submission: Submission) -> Iterator[Violation]:
    """A finished trial was timed, counted and compared with a baseline; its prompt was rendered."""
    runner = _runner(submission)
    if runner is None:
        return
    names = _BY_RUNNER[runner]["trial"]
    values = attrgetter("outcome", *names)
    first = _first_baselines(submission)
    answered: set[str] = set()
    for index, trial in enumerate(submission.trials):
        found = values(trial)
        if found[0] != "ok":
            continue
        answered.add(trial.prompt)
        if None in found:
            yield from _lacking(trial, _due(trial, names, runner), f"$.trials[{index}]", runner)
        compared = trial.compared_tokens is not None or _as_text(trial, runner)
        if not compared and first.get(trial.prompt, trial) is not trial:
            yield from _lacking(trial, ("compared_tokens",), f"$.trials[{index}]", runner)
    for index, prompt in enumerate(submission.suite.prompts):
        if prompt.id in answered:
            path = f"$.suite.prompts[{index}]"
            yield from _lacking(prompt, ("tokens", "rendered_sha256"), path, runner)


def _due(trial: Trial, names: Sequence[str], runner: str) -> Sequence[str]:
    """The fields that a trial must have; no digest is needed if the server withheld tokens."""
    held_back = (trial.compared_tokens or 0) < (trial.output_tokens or 0)
    some = runner == _SERVER and trial.compared_tokens is not None and held_back
    if some or _as_text(trial, runner):
        return [name for name in names if name != "output_sha256"]
    return names


def _as_text(trial: Trial, runner: str) -> bool:
    """Whether a server sent text instead of tokens, as ik_llama.cpp does."""
    return runner == _SERVER and trial.output_sha256 is None and trial.text_sha256 is not None


def _first_baselines(submission: Submission) -> dict[str, Trial]:
    """For each prompt, the first output of a baseline; other outputs are compared with it."""
    baselines = {arm.id for arm in submission.arms if arm.role == "baseline"}
    first: dict[str, Trial] = {}
    for trial in submission.trials:
        if trial.arm in baselines and trial.outcome == "ok":
            known = first.get(trial.prompt)
            if known is None or trial.order < known.order:
                first[trial.prompt] = trial
    return first


def _runner(submission: Submission) -> str | None:
    """The runner of the harness that wrote the file; `None` for other files."""
    runner = submission.engine.runner
    return runner if submission.tier == "measured" and runner in _BY_RUNNER else None


def _lacking(value: object, names: Sequence[str], path: str, runner: str) -> Iterator[Violation]:
    for name in names:
        if getattr(value, name) is None:
            message = (
                f"the field is missing, but every run with {runner} records it; use the file as "
                "the harness wrote it"
            )
            yield f"{path}.{name}", message
