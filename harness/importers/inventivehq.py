"""How does the community JSON of InventiveHQ's experiments read?

`{name, notes, hardware{platform, cpu, gpus[]}, runs{key: {meta, runs[{backend, method, label,
status, records[]}]}}}`, or one such `{meta, runs[]}` by itself. Every key and backend is a rig.
"""

import re
from collections.abc import Iterator, Sequence

from harness.importers.entries import Entry, document
from harness.importers.model import BASELINE, ArmRead, Format, Given, Part, Reading, Record
from harness.importers.translate import id_of, model_facts, reason_of
from harness.importers.trials import rate_counts, rounds
from schemas.vocabulary import METHODS

# The experiment's script always drafts up to 5 tokens, and asks for all layers on the GPU.
_METHODS = {
    name: entry.id for entry in METHODS.values() for name in entry.names.get("inventivehq", ())
}
_DEPTH = 5
_SYSTEMS = {"windows": "windows", "macos": "macos", "darwin": "macos", "linux": "linux"}
_ARCHITECTURES = {"arm64": "aarch64", "aarch64": "aarch64", "x86_64": "x86_64", "amd64": "x86_64"}
_BUILD = re.compile(r"\bb([0-9]{3,6})\b")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")


def read(files: Sequence[Given]) -> Reading:
    """One part for every run and backend of every file."""
    left_out: list[str] = []
    parts = [part for file in files for part in _parts(file, left_out)]
    return Reading(parts=tuple(parts), left_out=tuple(dict.fromkeys(left_out)))


def _parts(file: Given, left_out: list[str]) -> Iterator[Part]:
    top = Entry.of(file, document(file))
    if isinstance(top.value.get("runs"), list):
        keyed = {id_of(file.stem): top}
    else:
        keys = top.child("runs")
        if keys is None:
            top.refuse("runs", "the runs of this format")
        keyed = {key: run for key in keys.value if (run := keys.child(key)) is not None}
    for key, run in keyed.items():
        if not isinstance(run.value.get("runs"), list):
            means = ", its drafts are means without records" if "drafts" in run.value else ""
            left_out.append(f"{run.place}: another experiment; it has no runs with records{means}")
            continue
        yield from _by_backend(key, run, top, left_out)
    if not keyed:
        top.refuse("runs", "at least one run")


def _by_backend(key: str, run: Entry, top: Entry, left_out: list[str]) -> Iterator[Part]:
    entries = run.children("runs")
    for backend in dict.fromkeys(entry.text("backend") for entry in entries):
        own = [entry for entry in entries if entry.text("backend") == backend]
        meta = run.child("meta")
        facts = _facts(meta, top, backend, left_out) | _rates(own)
        names = [_arm_name(entry) for entry in own]
        if BASELINE not in names:
            left_out.append(f"{run.place}: backend {backend}: no baseline, nothing to compare")
            continue
        yield Part(
            name=f"{id_of(key)}-{backend}" if backend else id_of(key),
            suite="inventivehq",
            facts=facts,
            arms=tuple({n: _arm(n, entry) for n, entry in zip(names, own, strict=True)}.values()),
            records=tuple(
                record
                for name, entry in zip(names, own, strict=True)
                for record in _records(name, entry)
            ),
        )


def _arm_name(entry: Entry) -> str:
    method = entry.text("method")
    if method is None:
        entry.refuse("method", "the name of a method")
    return id_of(method)


def _arm(name: str, entry: Entry) -> ArmRead:
    """`draft_0_5b` and the like; an arm whose server did not start has failed."""
    known = _METHODS.get(name) or ("draft-model" if name.startswith("draft") else None)
    if known not in (None, "none"):
        known = f"{known}:n_max={_DEPTH}"
    has_records = bool(entry.value.get("records"))
    failed = entry.text("status") not in (None, "ok") and not has_records
    return ArmRead(name=name, method=known, reason="load-failed" if failed else None)


def _records(arm: str, entry: Entry) -> Iterator[Record]:
    if not isinstance(entry.value.get("records"), list):
        return
    for record in entry.children("records"):
        prompt = record.text("id")
        if prompt is None:
            record.refuse("id", "the name of a prompt")
        error, tokens = record.text("error"), record.count("predicted_n")
        drafted, accepted = _counters(arm, record)
        yield Record(
            arm=arm,
            prompt=prompt,
            place=record.place,
            category=record.text("category"),
            reason=None if error is None else reason_of(error),
            output_tokens=tokens,
            decode_ms=record.number("predicted_ms"),
            per_second=record.number("tps"),
            drafted=drafted,
            accepted=accepted,
            rounds=rounds(tokens, accepted),
            output_hash=record.text("out_hash"),
        )


def _counters(arm: str, record: Entry) -> tuple[int | None, int | None]:
    """Drafted and accepted tokens. llama-server answers without them when it drafted nothing.

    The script then writes null; a record without these keys says nothing.
    """
    answered = "draft_n" in record.value and record.number("predicted_ms") is not None
    if arm != BASELINE and answered and record.count("draft_n") is None:
        return 0, 0
    return record.count("draft_n"), record.count("draft_n_accepted")


def _rates(entries: Sequence[Entry]) -> dict[str, str]:
    """What `tps` counts in this file, for records without a time."""
    for entry in entries:
        for record in entry.children("records") if entry.value.get("records") else ():
            tokens, ms = record.count("predicted_n"), record.number("predicted_ms")
            per_second = record.number("tps")
            if tokens and ms and per_second and (found := rate_counts(tokens, ms, per_second)):
                return {"rate_counts": found}
    return {"rate_counts": "tokens"}


def _facts(
    meta: Entry | None, top: Entry, backend: str | None, left_out: list[str]
) -> dict[str, str]:
    facts = {"engine": "llama.cpp", "sampling": "greedy"}  # top_k 1 at temperature 0
    facts["gpu_layers"] = "0" if backend == "cpu" else "-1"
    if backend is not None:
        facts["backend"] = backend
    if (build := _BUILD.search(top.text("notes") or "")) is not None:
        facts["build"] = build[1]
    label = None
    if meta is not None:
        facts |= model_facts(meta.text("target") or "")
        facts |= model_facts(meta.text("draft") or "", "draft")
        for key, fact in (("max_tokens", "max_output_tokens"), ("ctx", "context")):
            if (count := meta.count(key)) is not None:
                facts[fact] = str(count)
        label = meta.text("gpu")
    return facts | _machine(top, label, backend, left_out)


def _machine(
    top: Entry, label: str | None, backend: str | None, left_out: list[str]
) -> dict[str, str]:
    hardware = top.child("hardware")
    if hardware is not None:
        return _hardware(hardware, label, backend, left_out)
    return {} if backend == "cpu" else _named(label)


def _hardware(
    hardware: Entry, label: str | None, backend: str | None, left_out: list[str]
) -> dict[str, str]:
    facts: dict[str, str] = {}
    facts |= _system(hardware.text("platform") or "")
    cpu = hardware.text("cpu")
    if cpu is not None:
        facts["cpu"] = cpu
    cards = hardware.children("gpus") if hardware.value.get("gpus") else []
    used = _used(cards, label)
    if used is not None:
        facts |= _card(used)
    elif backend == "metal" and cpu is not None and cpu.startswith("Apple"):
        facts["gpu"] = cpu  # one chip
    elif not cards and backend != "cpu":
        facts |= _named(label)
    left_out.extend(
        f"{card.place}: a GPU that the run on {label or backend} did not use"
        for card in cards
        if card is not used
    )
    return facts


def _system(platform: str) -> dict[str, str]:
    """System, version and architecture in the form of Python's `platform.platform()`."""
    words = platform.lower().split("-")
    facts = {"os": _SYSTEMS.get(words[0].rstrip("0123456789"))}
    facts["cpu_architecture"] = next(filter(None, map(_ARCHITECTURES.get, words)), None)
    version = _VERSION.search(platform)
    facts["os_version"] = version[0] if version else None
    return {key: value for key, value in facts.items() if value is not None}


def _used(cards: Sequence[Entry], label: str | None) -> Entry | None:
    """The card that the run's label names, or the only one."""
    words = re.sub(r"\s*\(.*", "", label or "").lower()
    for card in cards:
        if words and words in (card.text("name") or "").lower():
            return card
    return cards[0] if len(cards) == 1 and not words.startswith("cpu") else None


def _card(card: Entry) -> dict[str, str]:
    facts = {"gpu": card.text("name"), "gpu_driver": card.text("driver")}
    memory = re.match(r"([0-9]+)\s*MiB", card.text("memory") or "")
    facts["vram_mib"] = memory[1] if memory else None
    return {key: value for key, value in facts.items() if value is not None}


def _named(label: str | None) -> dict[str, str]:
    """A run without hardware names its GPU only."""
    if label is None or label.lower().startswith("cpu"):
        return {}
    return {"gpu": re.sub(r"\s*\(.*", "", label)}


FORMAT = Format(
    read=read,
    signs=(frozenset({"runs", "hardware"}), frozenset({"runs", "meta"})),
    help="""a community file of InventiveHQ's speculation experiment. Has models, GPU, methods,
times and counters; lacks the day.

- `--from inventivehq community.json --map date=2026-06-01`""",
)
