"""Write the example files below tests/data: valid files, and one invalid file for each rule.

Run `python -m tools.examples` after a change of the format; it rewrites `tests/data/`. Each invalid
file starts from a small valid submission, and one change makes it break exactly one rule.
"""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from schemas import contract
from schemas.codec import canonical_bytes, encode
from schemas.submission import Engine, Model, Origin, Settings
from tests.samples import sample, sample_bytes

Document = dict[str, Any]
Change = Callable[[Document], None]


DATA = Path(__file__).parents[1] / "tests" / "data"
# Positions in the small sample: one prompt, one block, three arms.
BASELINE, LOOKUP, DRAFTED = 0, 1, 2


def main() -> None:
    """Write every example file."""
    for rule, change in CHANGES.items():
        document = small()
        change(document)
        data = canonical_bytes(document)
        (DATA / "invalid" / f"{rule}.json").write_bytes(data)
        (DATA / "invalid" / f"{rule}.txt").write_text(message_lines(rule, data), encoding="utf-8")
    for name, data in valid_files().items():
        (DATA / "valid" / f"{name}.json").write_bytes(data)


def message_lines(rule: str, data: bytes) -> str:
    """The contract's findings on an example file, one per line."""
    found = contract.findings(data, file=f"{rule}.json")
    return "".join(f"{finding.line()}\n" for finding in found)


def small() -> Document:
    """A valid document with one prompt, one block and three arms."""
    # With this seed, the trials run in the order of the arms.
    data = sample_bytes(sample(seed=2, tasks=("code",), prompts_per_task=1, blocks=1))
    document: Document = json.loads(data)
    return document


def valid_files() -> dict[str, bytes]:
    """Valid files that omit different fields, and one file with every setting changed."""
    known = sample(tasks=("chat", "json"), prompts_per_task=1, blocks=1, contributor="grace")
    imported = replace(
        known,
        tier="imported",
        engine=Engine(runner="imported", name="llama.cpp", version="b6000", backend="cuda"),
        target=_named_only(known.target),
        drafts=tuple(_named_only(draft) for draft in known.drafts),
        settings=Settings(max_output_tokens=known.settings.max_output_tokens, threads=8),
        suite=replace(known.suite, id="mtp-bench", sha256=None),
        arms=tuple(replace(arm, load_s=None, placement=None) for arm in known.arms),
        profile="custom",
        origin=Origin(
            format="mtp-bench", sha256="b1" * 32, source="Community thread", licence="MIT"
        ),
        probes=None,
        warmups=None,
        environment=None,
    )
    unusual = replace(known, profile="custom", settings=_other_settings(known.settings))
    return {
        "other-settings": sample_bytes(unusual),
        "default": sample_bytes(sample(tasks=("code", "math", "creative"), prompts_per_task=1)),
        "cpu-with-failures": canonical_bytes(_with_failures()),
        "imported": sample_bytes(imported),
    }


def _other_settings(known: Settings) -> Settings:
    """Settings of which none has its usual value."""
    return replace(
        known,
        sampling="other",
        temperature=0.8,
        sampling_seed=7,
        context_depth_tokens=104,  # the sample's prompts have 100 tokens
        kv_type_k="q8_0",
        kv_type_v="q8_0",
        flash_attention="on",
        draft_sampling="probabilistic",
        cpu_expert_layers=-1,
        cpu_ffn_layers=8,
        moe_cache_mib=4096,
        split_mode="row",
        server_arguments=("--cache-reuse 256", "--swa-full"),
    )


def _named_only(model: Model) -> Model:
    """A model with only what a table in a forum thread gives: name and quantisation."""
    return Model(id=model.id, name=model.name, quantisation=model.quantisation)


def _with_failures() -> Document:
    """A document without GPU: the draft model did not load, and another arm's trial timed out."""
    cpu_only = sample(gpu=None, backend="cpu", tasks=("code", "math"), prompts_per_task=1, blocks=1)
    document: Document = encode(cpu_only)  # type: ignore[assignment]  # a submission is an object
    unloaded = document["arms"][DRAFTED]
    unloaded.update(outcome="failed", reason="out-of-memory")
    for name in ("load_s", "placement", "peak_memory"):
        del unloaded[name]
    kept = ("arm", "prompt", "block", "order")
    for index, trial in enumerate(document["trials"]):
        if trial["arm"] == "draft-model-n4" or trial["order"] == LOOKUP:
            reason = "timed-out" if trial["order"] == LOOKUP else "out-of-memory"
            failed = {key: trial[key] for key in kept} | {"outcome": "failed", "reason": reason}
            document["trials"][index] = failed
    return document


def set_at(document: Document, path: str, value: object) -> None:
    """Set the value at a path: `arms.1.baseline` is the field `baseline` of the second arm."""
    place, last = _container(document, path)
    place[last] = value


def _set(path: str, value: object) -> Change:
    return lambda document: set_at(document, path, value)


def remove(path: str) -> Change:
    """A change that removes the value at a path."""

    def change(document: Document) -> None:
        place, last = _container(document, path)
        del place[last]

    return change


def _repeat(path: str) -> Change:
    """A change that appends a copy of a list's first entry."""

    def change(document: Document) -> None:
        place, last = _container(document, path)
        place[last].append(copy.deepcopy(place[last][0]))

    return change


def _all(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for single in changes:
            single(document)

    return change


def _container(document: Document, path: str) -> tuple[Any, str | int]:
    """The container of the value at a path, and the value's key or index in this container."""
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    place: Any = document
    for step in steps:
        place = place[step]
    return place, last


def _only_sums(trial: int) -> Change:
    """A change to a runner that reports only sums: no draft histogram, and none of its medians."""
    fields = ("drafted_histogram", "round_ms_median", "round_cpu_ms_median")
    gone = (remove(f"trials.{trial}.{field}") for field in fields)
    return _all(_set("engine.runner", "openai"), *gone)


def _no_baseline(document: Document) -> None:
    """Turn the baseline into a control, a role that may also have the method none."""
    document["arms"][BASELINE]["role"] = "control"


def _trial_twice(document: Document) -> None:
    again = {**document["trials"][BASELINE], "order": 3, "compared_tokens": 41}
    document["trials"].append(again)


# The two speculative trials of the small sample have 20 rounds, 80 drafted and 20 accepted tokens,
# and 41 tokens of output; the baseline's decode time is 805.5 ms.
CHANGES: dict[str, Change] = {
    "no-secrets": _set("notes", "See https://ada:hunter22@example.org/log"),
    "names-visible": _set("target.name", "--"),
    "arguments-public": _set("arms.1.argv", ["--threads", "4", "--rpc", "example.org:50052"]),
    "baseline-arm-present": _no_baseline,
    "arm-ids-unique": _repeat("arms"),
    "arm-baseline": _set("arms.1.baseline", "draft-model-n4"),
    "arm-draft-known": _set("arms.2.method.draft", "another-model"),
    "arm-reason": _set("arms.1.reason", "crashed"),
    "arm-method-fits-role": _set("arms.1.role", "alternative"),
    "ngram-range-ascends": _set("arms.1.method.ngram_min", 5),
    "active-within-total": _set("target.active_parameters", 7_000_000_001),
    "prompt-ids-unique": _repeat("suite.prompts"),
    "draft-ids-unique": _repeat("drafts"),
    "probe-draft-known": _set("probes.drafting.0.draft", "another-model"),
    "warmup-arm-known": _all(_repeat("warmups"), _set("warmups.3.arm", "another-arm")),
    "trial-arm-known": _set("trials.1.arm", "another-arm"),
    "trial-prompt-known": _set("trials.1.prompt", "another-prompt"),
    "trial-block-planned": _set("trials.1.block", 1),
    "trial-unique": _trial_twice,
    "trial-order": _set("trials.2.order", 7),
    "trial-reason": _set("trials.1.reason", "crashed"),
    "origin-of-import": _set("tier", "imported"),
    "accepted-within-drafted": _all(_set("trials.2.drafted", 19), _only_sums(2)),
    "drafted-within-depth": _all(_set("trials.2.drafted", 81), _only_sums(2)),
    "output-tokens-counted": _set("trials.1.output_tokens", 40),
    "output-within-limit": _set("settings.max_output_tokens", 40),
    "context-large-enough": _set("settings.context_tokens", 140),
    "histograms-agree": _set("trials.1.accepted_histogram", [1, 19]),
    "medians-agree": _set("trials.1.round_ms_median", [28.1, 28.2]),
    "no-speculation-drafts-nothing": _all(_set("trials.0.drafted", 1), _only_sums(0)),
    "divergence-within-compared": _set("trials.1.first_divergence", 41),
    "accepted-within-depth": _all(
        _set("trials.2.rounds", 7),
        _only_sums(2),
        *(
            remove(f"trials.2.{field}")
            for field in ("accepted", "accepted_histogram", "drafted", "full_rounds")
        ),
    ),
    "quantisation-fits-size": _set("target.quantisation", "F32"),
    "parameters-fit-name": _all(
        _set("target.parameters", 70_000_000_000),
        remove("target.file_bytes"),
        _set("engine.runner", "openai"),
    ),
    "backend-has-device": _set(
        "engine.devices", [{"kind": "cpu", "memory_total_mib": 32768, "name": "CPU"}]
    ),
    "sampling-fits-temperature": _set("settings.temperature", 0.8),
    "prompts-fill-depth": _set("settings.context_depth_tokens", 512),
    "backend-name-of-other": _set("engine.backend_name", "cuda"),
    "parts-within-decode": _set("trials.1.verify_ms", 600),
    "decode-within-wall": _set("trials.1.wall_ms", 600),
    "trials-within-window": _set("measured_until", "2026-11-21T08:59:59Z"),
    "decode-takes-time": _all(_set("trials.0.decode_ms", 0), _set("trials.0.verify_ms", 0)),
    "probe-widths-ascend": _set("probes.verification.widths", [1, 2, 2, 4, 5]),
    "run-facts-stated": remove("settings.threads"),
    "arm-facts-stated": remove("arms.2.load_s"),
    "trial-facts-stated": remove("trials.1.wall_ms"),
}


if __name__ == "__main__":
    main()
