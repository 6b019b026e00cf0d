"""Import InventiveHQ's community results (JSON).

`{name, notes, hardware{platform, cpu, gpus[]}, runs{key: {meta, runs[{backend, method, label,
status, records[]}]}}}`, or a single `{meta, runs[]}`. Every combination of key and backend is a
rig.
"""

import re
from collections.abc import Iterator, Sequence

from harness.imports.foreign_names import id_of, reason_of, target_facts, weights_in
from harness.imports.json_values import JsonObject, parse
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import ArmRead, Format, ParsedFiles, Part, Record
from harness.imports.source_files import BASELINE, Given, text
from harness.imports.trials import rate_counts
from schemas.rig import BACKENDS, Architecture, System
from schemas.vocabulary import METHODS

# The experiment's script always drafts up to 5 tokens, with all layers on the GPU.
_METHODS = {
    name: entry.id for entry in METHODS.values() for name in entry.names.get("inventivehq", ())
}
_DEPTH = 5
_SYSTEMS: dict[str, System] = {
    "windows": "windows", "macos": "macos", "darwin": "macos", "linux": "linux",
}  # fmt: skip
_ARCHITECTURES: dict[str, Architecture] = {
    "arm64": "aarch64", "aarch64": "aarch64", "x86_64": "x86_64", "amd64": "x86_64",
}  # fmt: skip
_BUILD = re.compile(r"\bb([0-9]{3,6})\b")
_VERSION = re.compile(r"(?<![0-9])[0-9]+(?:\.[0-9]+)+")


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files; each combination of run and backend becomes a part: one result."""
    left_out: list[str] = []
    parts = [part for file in files for part in _parts(file, left_out)]
    return ParsedFiles(parts=tuple(parts), left_out=tuple(dict.fromkeys(left_out)))


def _parts(file: Given, left_out: list[str]) -> Iterator[Part]:
    top = JsonObject.of(file.name, parse(text(file), file.name))
    if isinstance(top.fields.get("runs"), list):
        keyed = {id_of(file.stem): top}
    else:
        keys = top.needed("runs", top.child("runs"), "runs in this format")
        keyed = {key: run for key in keys.fields if (run := keys.child(key)) is not None}
    for key, run in keyed.items():
        if isinstance(run.fields.get("runs"), list):
            yield from _by_backend(key, run, top, left_out)
        else:
            means = ", and its drafts are means without records" if "drafts" in run.fields else ""
            left_out.append(
                f"{run.place}: not a speculation experiment with records of runs{means}"
            )
    if not keyed:
        top.refuse("runs", "at least one run")


def _by_backend(key: str, run: JsonObject, top: JsonObject, left_out: list[str]) -> Iterator[Part]:
    runs: dict[str | None, list[JsonObject]] = {}
    for entry in run.children("runs"):
        runs.setdefault(entry.text("backend"), []).append(entry)
    for backend, entries in runs.items():
        facts = _facts(run, top, backend, left_out)
        words = "the name of a method"
        named = [(id_of(e.needed("method", e.text("method"), words)), e) for e in entries]
        if not any(name == BASELINE for name, _ in named):
            left_out.append(
                f"{run.place}: backend {backend}has no baseline, so there is nothing to compare"
            )
            continue
        records = tuple(record for name, entry in named for record in _records(name, entry))
        yield Part(
            name=f"{id_of(key)}-{backend}" if backend else id_of(key),
            suite="inventivehq",
            facts=facts | ImportedFacts(rate_counts=rate_counts(records)),
            arms=tuple({name: _arm(name, entry) for name, entry in named}.values()),
            records=records,
        )


def _arm(name: str, entry: JsonObject) -> ArmRead:
    """Return an arm such as `draft_0_5b`, marked as failed if its server did not start."""
    known = _METHODS.get(name) or ("draft-model" if name.startswith("draft") else None)
    if known not in (None, "none"):
        known = f"{known}:n_max={_DEPTH}"
    failed = entry.text("status") not in (None, "ok") and not entry.fields.get("records")
    return ArmRead(name=name, method=known, reason="load-failed" if failed else None)


def _records(arm: str, entry: JsonObject) -> Iterator[Record]:
    is_list = isinstance(entry.fields.get("records"), list)
    for record in entry.children("records") if is_list else ():
        prompt = record.needed("id", record.text("id"), "the name of a prompt")
        error = record.text("error")
        drafted, accepted = record.count("draft_n"), record.count("draft_n_accepted")
        # If llama-server drafted nothing, it omits the counters and the script writes null: that is
        # 0. In a record without these keys the counts are unknown.
        answered = "draft_n" in record.fields and record.number("predicted_ms") is not None
        if arm != BASELINE and answered and drafted is None:
            drafted = accepted = 0
        yield Record(
            arm=arm,
            prompt=prompt,
            place=record.place,
            category=record.text("category"),
            reason=None if error is None else reason_of(error),
            output_tokens=record.count("predicted_n"),
            decode_ms=record.number("predicted_ms"),
            per_second=record.number("tps"),
            drafted=drafted,
            accepted=accepted,
            output_hash=record.text("out_hash"),
        )


def _facts(
    run: JsonObject, top: JsonObject, backend: str | None, left_out: list[str]
) -> ImportedFacts:
    build = _BUILD.search(top.text("notes") or "")
    draft, quantisation = weights_in(run.text("meta.draft") or "")
    facts = target_facts(run.text("meta.target")) | ImportedFacts(
        engine="llama.cpp",
        build=int(build[1]) if build else None,
        backend=BACKENDS.get(backend or ""),
        sampling="greedy",  # top_k 1 at temperature 0
        gpu_layers=0 if backend == "cpu" else -1,
        draft=draft,
        draft_quantisation=quantisation,
        max_output_tokens=run.count("meta.max_tokens"),
        context=run.count("meta.ctx"),
    )
    label, hardware = run.text("meta.gpu"), top.child("hardware")
    # Without a described GPU, the one that the label names.
    named = None if (label or "").lower().startswith("cpu") else label
    gpu = ImportedFacts(gpu=named.partition("(")[0].rstrip() if named else None)
    if hardware is not None:
        return facts | _processor(hardware) | _gpu(hardware, label, backend, gpu, left_out)
    return facts if backend == "cpu" else facts | gpu


def _processor(hardware: JsonObject) -> ImportedFacts:
    platform = hardware.text("platform") or ""
    words, version = platform.lower().split("-"), _VERSION.search(platform)
    return ImportedFacts(
        os=_SYSTEMS.get(words[0].rstrip("0123456789")),
        os_version=version[0] if version else None,
        cpu_architecture=next(filter(None, map(_ARCHITECTURES.get, words)), None),
        cpu=hardware.text("cpu"),
    )


def _gpu(
    hardware: JsonObject,
    label: str | None,
    backend: str | None,
    labelled: ImportedFacts,
    left_out: list[str],
) -> ImportedFacts:
    """Return the GPU that the run's label names, or the only GPU."""
    cards = hardware.children("gpus") if hardware.fields.get("gpus") else []
    own = (label or "").partition("(")[0].rstrip().lower()
    named = (card for card in cards if own and own in (card.text("name") or "").lower())
    only = cards[0] if len(cards) == 1 and not own.startswith("cpu") else None
    used = next(named, only)
    left_out.extend(
        f"{card.place}: left out a GPU that the run on {label or backend} did not use"
        for card in cards
        if card is not used
    )
    if used is not None:
        memory = re.match(r"([0-9]+)\s*MiB", used.text("memory") or "")
        return ImportedFacts(
            gpu=used.text("name"),
            gpu_driver=used.text("driver"),
            vram_mib=int(memory[1]) if memory else None,
        )
    cpu = hardware.text("cpu") or ""
    if backend == "metal" and cpu.startswith("Apple"):
        return ImportedFacts(gpu=cpu)  # CPU and GPU are the same chip
    return ImportedFacts() if cards or backend == "cpu" else labelled


FORMAT = Format(
    read=read,
    signs=(frozenset({"runs", "hardware"}), frozenset({"runs", "meta"})),
    help="""a community file of InventiveHQ's speculation experiment. It contains the models,
the GPU, methods, times and counters, but not the date.

- `--from inventivehq community.json --map date=2026-06-01`""",
)
