"""Which corpora are odd in just one way? Each a few made-up submissions, all of them valid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemas import contract
from schemas.submission import Gpu, Submission, Trial
from tests.crowds import crowds
from tests.hostile_site import submissions as hostile
from tests.samples import Costs, sample

if TYPE_CHECKING:
    from collections.abc import Callable


if TYPE_CHECKING:
    Corpus = tuple[Submission, ...]

VALID = Path(__file__).resolve().parents[1] / "tests" / "data" / "valid"
DEAR = Costs(step_ms=10.0, extra_width_ms=20.0, draft_token_ms=30.0)
HUGE = 60.0  # times as fast as a sample's arm


def only_failures() -> Corpus:
    """One whose arms could not run, and one whose trials all failed, the baseline's too."""
    one, other = sample(seed=1), sample(seed=2, gpu=None, backend="cpu")
    arms = tuple(
        arm if arm.role == "baseline" else replace(arm, outcome="failed", reason="out-of-memory")
        for arm in one.arms
    )
    plain = tuple(trial for trial in one.trials if trial.arm == "baseline")
    return (
        replace(
            one,
            arms=arms,
            trials=tuple(replace(trial, order=order) for order, trial in enumerate(plain)),
            warmups=tuple(item for item in one.warmups or () if item.arm == "baseline"),
        ),
        replace(other, trials=tuple(map(_failed, other.trials))),
    )


def one_cell() -> Corpus:
    """One prompt, one block, one arm beside its baseline, and no probes."""
    one = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    names = {"baseline", "draft-model-n4"}
    trials = [trial for trial in one.trials if trial.arm in names]
    return (
        replace(
            one,
            arms=tuple(arm for arm in one.arms if arm.id in names),
            trials=tuple(replace(trial, order=order) for order, trial in enumerate(trials)),
            warmups=tuple(item for item in one.warmups or () if item.arm in names),
            design=replace(one.design, planned_trials=len(trials)),
            probes=None,
        ),
    )


def all_losing() -> Corpus:
    """Three cards on which a round costs more than it can yield."""
    cards = ("NVIDIA GeForce RTX 4060", "NVIDIA GeForce RTX 3060", "AMD Radeon RX 7600")
    return tuple(
        sample(seed=seed, gpu=card, costs=DEAR, prompts_per_task=4)
        for seed, card in enumerate(cards)
    )


def huge_speedups() -> Corpus:
    """An arm sixty times as fast as it could be: flagged, but shown."""
    one = sample(seed=1, prompts_per_task=4)
    return (
        replace(
            one,
            trials=tuple(
                trial if trial.arm == "baseline" else _faster(trial) for trial in one.trials
            ),
        ),
    )


def only_servers() -> Corpus:
    """Nothing but a server of another engine, with and without crowds; its model has no size."""
    one = crowds(1, 4)
    engine = replace(one.engine, runner="openai", name="vLLM", package_version=None)
    target = replace(one.target, parameters=None, file_bytes=None, layers=None)
    return (replace(one, engine=engine, target=target, probes=None),)


def only_imported() -> Corpus:
    """Nothing but another tool's records."""
    read = contract.read((VALID / "imported.json").read_bytes())
    assert isinstance(read, Submission)
    return (read,)


def unknown_cards() -> Corpus:
    """A card without its memory, one whose name says nothing, and a processor like that."""
    one, two, three = sample(seed=1), sample(seed=2), sample(seed=3, gpu=None, backend="cpu")
    bare = replace(one.machine, gpus=(Gpu(name="Graphics Device"),))
    nameless = replace(two.machine, gpus=(Gpu(name="GPU", vram_mib=4096),))
    cpu = replace(three.machine.cpu, name="CPU", logical_cores=1, physical_cores=None)
    return (
        replace(one, machine=bare),
        replace(two, machine=nameless),
        replace(three, machine=replace(three.machine, cpu=cpu)),
    )


def foreign_names() -> Corpus:
    """Names in other scripts, from right to left too, with marks and outside the basic plane."""
    names = ("كرت شاشة", "显卡 一号", "Grafikkarte Ǘber", "🚀 8")
    targets = ("نموذج-7B", "模型-7B", "Mödell-7B", "🦙-7B")
    return tuple(
        _named(sample(seed=seed, gpu=name, contributor=f"c{seed}"), target)
        for seed, (name, target) in enumerate(zip(names, targets, strict=True))
    )


CORPORA: dict[str, Callable[[], Corpus]] = {
    "empty": tuple,
    "only failures": only_failures,
    "one rig": lambda: (sample(),),
    "one cell": one_cell,
    "all losing": all_losing,
    "huge speedups": huge_speedups,
    "only servers": only_servers,
    "only imported": only_imported,
    "only crowds": lambda: (crowds(4),),
    "unknown cards": unknown_cards,
    "long names": lambda: (hostile()["long"],),
    "foreign names": foreign_names,
}


def _failed(trial: Trial) -> Trial:
    return Trial(
        arm=trial.arm, prompt=trial.prompt, block=trial.block, order=trial.order,
        outcome="failed", reason="crashed",
    )  # fmt: skip


def _faster(trial: Trial) -> Trial:
    return replace(
        trial,
        decode_ms=_share(trial.decode_ms),
        draft_ms=_share(trial.draft_ms),
        verify_ms=_share(trial.verify_ms),
        round_ms_median=tuple(ms / HUGE for ms in trial.round_ms_median or ()),
        round_cpu_ms_median=tuple(ms / HUGE for ms in trial.round_cpu_ms_median or ()),
    )


def _share(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / HUGE


def _named(submission: Submission, target: str) -> Submission:
    return replace(submission, target=replace(submission.target, name=target))
