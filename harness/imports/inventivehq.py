"""Import InventiveHQ's community results (JSON).

`{name, notes, hardware{platform, cpu, gpus[]}, runs{key: {meta, runs[{backend, method, label,
status, records[]}]}}}`, or a single `{meta, runs[]}`. Every combination of key and backend is a
rig.
"""

import re
from collections.abc import Iterator, Sequence

from harness.imports.foreign_names import id_of, reason_of, target_facts, weights_in
from harness.imports.json_values import Value, parse
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record
from harness.imports.source_files import BASELINE, Given
from harness.imports.trials import rate_counts
from schemas.rig import BACKENDS, Architecture, System
from schemas.vocabulary import METHODS

# The experiment's script always drafts up to 5 tokens, with all layers on the GPU.
_METHODS = {name: e.id for e in METHODS.values() for name in e.names.get("inventivehq", ())}
_DEPTH = 5
_FIGURES = {
    "prompt": "id!the name of a prompt",
    "category": "category",
    "output_tokens": "predicted_n",
    "decode_ms": "predicted_ms",
    "per_second": "tps",
    "drafted": "draft_n",
    "accepted": "draft_n_accepted",
    "output_hash": "out_hash",
}
_SETTINGS = {"max_output_tokens": "meta.max_tokens", "context": "meta.ctx"}
_CARD = {"gpu": "name", "gpu_driver": "driver"}
_SYSTEMS: dict[str, System] = {
    "windows": "windows", "macos": "macos", "darwin": "macos", "linux": "linux",
}  # fmt: skip
_ARCHITECTURES: dict[str, Architecture] = {
    "arm64": "aarch64", "aarch64": "aarch64", "x86_64": "x86_64", "amd64": "x86_64",
}  # fmt: skip
_BUILD = re.compile(r"\bb([0-9]{3,6})\b")
_VERSION = re.compile(r"(?<![0-9])[0-9]+(?:\.[0-9]+)+")
_MEMORY = re.compile(r"([0-9]+)\s*MiB")


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files; each combination of run and backend becomes a part: one result."""
    left_out: list[str] = []
    parts = [part for file in files for part in _parts(file, left_out)]
    return ParsedFiles(parts, tuple(dict.fromkeys(left_out)))


def _parts(file: Given, left_out: list[str]) -> Iterator[Part]:
    top = Value(file.name, parse(file.text, file.name)).object()
    runs = top.at("runs")
    if isinstance(runs.json, list):
        keyed = {id_of(file.stem): top}
    else:
        keyed = {key: runs.child(key) for key in runs.object().keys}
    if not keyed:
        runs.refuse("at least one run")
    for key, run in keyed.items():
        if run.json is not None and isinstance(run.at("runs").json, list):
            yield from _by_backend(key, run, top, left_out)
        elif run.json is not None:
            means = ", and its drafts are means without records" if "drafts" in run.keys else ""
            fault = f"not a speculation experiment with records of runs{means}"
            left_out.append(f"{run.place}: {fault}")


def _by_backend(key: str, run: Value, top: Value, left_out: list[str]) -> Iterator[Part]:
    entries: dict[str | None, list[tuple[str, Value]]] = {}
    for entry in run.at("runs").each():
        backend, how = entry.at("backend").text(), entry.at("method").text()
        if how is None:
            entry.at("method").refuse("the name of a method")
        entries.setdefault(backend, []).append((id_of(how), entry))
    for backend, named in entries.items():
        facts = _facts(run, top, backend, left_out)
        if BASELINE not in dict(named):
            fault = f"backend {backend} has no baseline, so there is nothing to compare"
            left_out.append(f"{run.place}: {fault}")
            continue
        records = tuple(record for arm, entry in named for record in _records(arm, entry))
        yield Part(
            name=f"{id_of(key)}-{backend}" if backend else id_of(key),
            suite="inventivehq",
            facts=facts | ImportedFacts(rate_counts=rate_counts(records)),
            methods={arm: _method(arm) for arm, _ in named},
            failed={arm: "load-failed" for arm, entry in named if _has_failed(entry)},
            records=records,
        )


def _method(arm: str) -> str | None:
    """Return the method of an arm such as `draft_0_5b`."""
    known = _METHODS.get(arm) or ("draft-model" if arm.startswith("draft") else None)
    return f"{known}:n_max={_DEPTH}" if known else None


def _has_failed(entry: Value) -> bool:
    """Whether the server of an arm did not start."""
    return entry.at("status").text() not in (None, "ok") and not entry.at("records").json


def _records(arm: str, entry: Value) -> Iterator[Record]:
    records = entry.at("records")
    for record in records.each() if isinstance(records.json, list) else ():
        figures, error = record.fields(Record, _FIGURES), record.at("error").text()
        # If llama-server drafted nothing, it omits the counters and the script writes null: that is
        # 0. In a record without these keys the counts are unknown.
        answered = "draft_n" in record.keys and figures["decode_ms"] is not None
        if arm == BASELINE:
            figures |= {"drafted": None, "accepted": None}
        elif answered and figures["drafted"] is None:
            figures |= {"drafted": 0, "accepted": 0}
        reason = None if error is None else reason_of(error)
        yield Record(arm=arm, place=record.place, reason=reason, **figures)


def _facts(run: Value, top: Value, backend: str | None, left_out: list[str]) -> ImportedFacts:
    build, hardware = _BUILD.search(top.at("notes").text() or ""), top.at("hardware")
    platform = hardware.at("platform").text() or ""
    words, version = platform.lower().split("-"), _VERSION.search(platform)
    draft, quantisation = weights_in(run.at("meta.draft").text() or "")
    facts = target_facts(run.at("meta.target").text()) | ImportedFacts(
        engine="llama.cpp",
        build=int(build[1]) if build else None,
        backend=BACKENDS.get(backend or ""),
        sampling="greedy",  # top_k 1 at temperature 0
        gpu_layers=0 if backend == "cpu" else -1,
        draft=draft,
        draft_quantisation=quantisation,
        os=_SYSTEMS.get(words[0].rstrip("0123456789")),
        os_version=version[0] if version else None,
        cpu_architecture=next(filter(None, map(_ARCHITECTURES.get, words)), None),
        cpu=hardware.at("cpu").text(),
        **run.fields(ImportedFacts, _SETTINGS),
    )
    return facts | _gpu(hardware, run.at("meta.gpu").text(), backend, left_out)


def _gpu(
    hardware: Value, label: str | None, backend: str | None, left_out: list[str]
) -> ImportedFacts:
    """Return the GPU that the run's label names, or the only GPU.

    Without a described GPU, it is the one that the label names, or the chip of an Apple computer.
    """
    cards = hardware.at("gpus").each() if hardware.at("gpus").json else []
    own = (label or "").partition("(")[0].rstrip()
    is_cpu = own.lower().startswith("cpu")
    named = (
        card for card in cards if own and own.lower() in (card.at("name").text() or "").lower()
    )
    used = next(named, cards[0] if len(cards) == 1 and not is_cpu else None)
    unused = f"left out a GPU that the run on {label or backend} did not use"
    left_out.extend(f"{card.place}: {unused}" for card in cards if card is not used)
    if used is not None:
        memory = _MEMORY.match(used.at("memory").text() or "")
        size = int(memory[1]) if memory else None
        return ImportedFacts(vram_mib=size, **used.fields(ImportedFacts, _CARD))
    cpu = hardware.at("cpu").text() or ""
    if backend == "metal" and cpu.startswith("Apple"):
        return ImportedFacts(gpu=cpu)  # CPU and GPU are the same chip
    return ImportedFacts(gpu=None if cards or backend == "cpu" or is_cpu else own or None)


FORMAT = Format(
    read=read,
    signs=(frozenset({"runs", "hardware"}), frozenset({"runs", "meta"})),
    help="""a community file of InventiveHQ's speculation experiment. It contains the models,
the GPU, methods, times and counters, but not the date.

- `--from inventivehq community.json --map date=2026-06-01`""",
)
