"""Corrupted results, each with the flag or rule that must find it.

Every row changes an honest campaign as a broken run, an error or a cheat would.
"""

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from schemas.codec import canonical_bytes, encode
from schemas.submission import Origin
from tests.samples import sample
from tools.examples import remove, set_at

NOW = datetime(2026, 11, 22, tzinfo=UTC)
Document = dict[str, Any]
Change = Callable[[Document], None]

MEASURED: Document = encode(sample(seed=7, blocks=3))  # type: ignore[assignment]  # a submission is an object
ON_CPU: Document = encode(  # type: ignore[assignment]  # a submission is an object
    sample(seed=8, blocks=3, gpu=None, backend="cpu", parameters=1_000_000_000)
)


def _imported(blocks: int) -> Document:
    """An imported campaign: sums only, no round histograms, no probes."""
    made = sample(seed=9, blocks=blocks)
    trials = tuple(
        replace(
            each,
            accepted_histogram=None,
            drafted_histogram=None,
            round_ms_median=None,
            round_cpu_ms_median=None,
            draft_ms=None,
            verify_ms=None,
        )
        for each in made.trials
    )
    origin = Origin(format="inventivehq", sha256="b1" * 32, source="Somebody", licence="MIT")
    document: Document = encode(  # type: ignore[assignment]  # a submission is an object
        replace(made, tier="imported", profile="custom", origin=origin, probes=None, trials=trials)
    )
    return document


IMPORTED = _imported(1)
REPEATED = _imported(3)
PROMPTS = [prompt["id"] for prompt in MEASURED["suite"]["prompts"]]
_TIMES = ("decode_ms", "draft_ms", "verify_ms", "wall_ms", "prompt_ms")


def _slower(factor: float, *, arm: str | None = None, prompts: tuple[str, ...] = ()) -> Change:
    def change(document: Document) -> None:
        for trial in document["trials"]:
            if arm in (None, trial["arm"]) and (not prompts or trial["prompt"] in prompts):
                for name in _TIMES:
                    if name in trial:
                        trial[name] *= factor
                for name in ("round_ms_median", "round_cpu_ms_median"):
                    if name in trial:
                        trial[name] = [ms * factor for ms in trial[name]]

    return change


def _copied_block(jitter: float, factor: float = 1.0) -> Change:
    """The last block's times are the first's times a factor, with jitter."""

    def change(document: Document) -> None:
        rng = random.Random(1)  # noqa: S311 - simulated noise
        first = {(t["arm"], t["prompt"]): t for t in document["trials"] if t["block"] == 0}
        for trial in document["trials"]:
            if trial["block"] == 2:
                source = first[trial["arm"], trial["prompt"]]
                by = factor * (1 + rng.uniform(-jitter, jitter))
                for name in _TIMES:
                    if name in source:
                        trial[name] = source[name] * by
                if "round_ms_median" in source:
                    trial["round_ms_median"] = [ms * by for ms in source["round_ms_median"]]

    return change


def _without_prompts(arm: str, share: float) -> Change:
    def change(document: Document) -> None:
        gone = set(PROMPTS[: int(len(PROMPTS) * share)])
        kept = [t for t in document["trials"] if t["arm"] != arm or t["prompt"] not in gone]
        document["trials"] = [t | {"order": order} for order, t in enumerate(kept)]

    return change


def _too_many_tokens(document: Document) -> None:
    """As few rounds as if each had yielded ten tokens."""
    for trial in document["trials"]:
        if trial["arm"] == "draft-model-n4":
            for name in ("accepted", "drafted", "full_rounds"):
                trial.pop(name, None)
            trial["rounds"] = 4


def _set(path: str, value: object) -> Change:
    return lambda document: set_at(document, path, value)


def _smaller(document: Document) -> None:
    """A tenth of the parameters, without a file size."""
    set_at(document, "target.parameters", 700_000_000)
    remove("target.file_bytes")(document)


_CPU_DEVICE = [{"name": "CPU", "kind": "cpu", "memory_total_mib": 32768}]

# The corruption, its campaign, the change, and the flag or rule that must find it.
ROWS: tuple[tuple[str, Document, Change, str], ...] = (
    ("baseline slow on 3 of 24 prompts, once", IMPORTED,
     _slower(7, arm="baseline", prompts=tuple(PROMPTS[:3])), "uneven-baseline"),
    ("baseline slow on 3 of 24 prompts, in each block", REPEATED,
     _slower(1.6, arm="baseline", prompts=tuple(PROMPTS[:3])), "uneven-baseline"),
    ("baseline slow on half of the prompts", REPEATED,
     _slower(2, arm="baseline", prompts=tuple(PROMPTS[:12])), "uneven-baseline"),
    ("baseline fast on one prompt", REPEATED,
     _slower(0.5, arm="baseline", prompts=(PROMPTS[4],)), "uneven-baseline"),
    ("rounds of one prompt cost twice as much, sums only", REPEATED,
     _slower(2, arm="draft-model-n4", prompts=(PROMPTS[3],)), "round-cost-spread"),
    ("rounds of one prompt cost half as much, sums only", IMPORTED,
     _slower(0.5, arm="draft-model-n4", prompts=(PROMPTS[3],)), "round-cost-spread"),
    ("more tokens a round than depth + 1", REPEATED, _too_many_tokens, "accepted-within-depth"),
    ("a block copied exactly", MEASURED, _copied_block(0.0), "repeated-block"),
    ("a block copied within 0.1 %", MEASURED, _copied_block(0.0005), "repeated-block"),
    ("a block copied, 4 % slower", REPEATED, _copied_block(0.0004, 1.04), "repeated-block"),
    ("an arm without a quarter of the prompts", MEASURED,
     _without_prompts("draft-model-n4", 0.25), "missing-trials"),
    ("an imported arm without half of the prompts", REPEATED,
     _without_prompts("draft-model-n4", 0.5), "missing-trials"),
    ("the baseline without a quarter of the prompts", MEASURED,
     _without_prompts("baseline", 0.25), "missing-trials"),
    ("Q4_K_M on four bytes a weight", MEASURED,
     _set("target.file_bytes", 28_000_000_000), "quantisation-fits-size"),
    ("F16 on half a byte a weight", MEASURED,
     _set("target.quantisation", "F16"), "quantisation-fits-size"),
    ("a draft's label that is not its file's", MEASURED,
     _set("drafts.0.quantisation", "IQ2_XXS"), "quantisation-fits-size"),
    ("parameters ten times as many", MEASURED,
     _set("target.parameters", 70_000_000_000), "quantisation-fits-size"),
    ("parameters a tenth, size unknown", IMPORTED, _smaller, "parameters-fit-name"),
    ("a GPU and a GPU backend on a CPU engine", MEASURED,
     _set("engine.devices", _CPU_DEVICE), "backend-has-device"),
    ("measured at the end of the century", MEASURED,
     _set("measured_until", "2099-12-31T10:00:00Z"), "measured-in-future"),
    ("a CPU 50 times faster", ON_CPU, _slower(0.02), "above-roofline"),
    ("a GPU 50 times faster", MEASURED, _slower(0.02), "above-roofline"),
)  # fmt: skip


def changed(document: Document, change: Change) -> bytes:
    """The canonical bytes of a document after a change."""
    copy = deepcopy(document)
    change(copy)
    return canonical_bytes(copy)
