"""Two Tesla V100 measured by thc1006 (CC0): DFlash and MTP with Qwen3.6.

The folder is a copy of the repository's flat table of times, with a row for each of 40 prompts in
each of 53 configurations. Machine, build and settings are from the author's page on method. There
is one result per model and regime: each row becomes a trial and each depth an arm. The texts of
prompts and answers are not in the copy.

    python -m tools.sources.thc1006_v100 path/to/thc1006-v100
"""

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.imports.assemble import Imported, assemble
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import ParsedFiles, Part, Record
from harness.imports.source_files import BASELINE, digest, given
from harness.run import result_file
from schemas.submission import Origin
from tools.sources.transcription import ROOT, WrongInputError

TABLE = "data/distilled/all_records.csv"
DIGEST = "2d9a5283bee9ba18ec85ba71a94ee5b2d8db6dc74e3bff5052736b480016a6f0"
# Explanations and arguments in prose count as chat in this project.
TASKS = {"factual": "chat", "howto": "chat", "analysis": "chat"}
CARD = "NVIDIA Tesla V100"
# Flash attention was on. That is llama.cpp's default on this card, so it is not recorded.
RIG = ImportedFacts(
    engine="llama.cpp",
    build=9860,
    backend="cuda",
    vram_mib=32768,
    os="linux",
    date="2026-07-06",
    context=4096,
    max_output_tokens=384,
    gpu_layers=-1,
    concurrency=1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceModel:
    """The model, method and number of cards that a value in the column `model` stands for."""

    facts: ImportedFacts
    method: str
    cards: int = 2


MODELS = {
    "dense": SourceModel(
        facts=ImportedFacts(target="Qwen3.6-27B", quantisation="IQ4_XS", parameters="27B"),
        method="dflash:n_max={},draft=Qwen3.6-27B-DFlash-Q8_0.gguf",
    ),
    "moe": SourceModel(
        facts=ImportedFacts(target="Qwen3.6-35B-A3B", quantisation="UD-IQ4_XS", parameters="35B"),
        method="dflash:n_max={},draft=Qwen3.6-35B-A3B-DFlash-Q8_0.gguf",
    ),
    # The base model, not the instruction-tuned one.
    "fd": SourceModel(
        facts=ImportedFacts(target="Qwen3-4B-Base", quantisation="Q4_K_M", parameters="4B"),
        method="dflash:n_max={},draft=Qwen3-4B-DFlash-BF16.gguf",
        cards=1,
    ),
    # The same model as `dense`, from a file with a built-in head, with a separate baseline.
    "mtp": SourceModel(
        facts=ImportedFacts(target="Qwen3.6-27B", quantisation="IQ4_XS", parameters="27B"),
        method="mtp:n_max={}",
    ),
}
SAMPLED = ImportedFacts(sampling="other", temperature=0.7, sampling_seed=42, thinking=False)
SOURCE = "Hsiu-Chi Tsai (thc1006), https://github.com/thc1006/qwen3.6-speculative-decoding-v100"


def results(folder: Path) -> Imported:
    """Return a result for each model and regime. Raises `WrongInputError` if the copy differs."""
    table = given(folder / TABLE)
    if digest([table]) != DIGEST:
        raise WrongInputError(folder)
    rows = list(csv.DictReader(table.text.splitlines()))
    names = dict.fromkeys((row["phase"], row["model"]) for row in rows)
    parts = tuple(
        _part(*name, [row for row in rows if (row["phase"], row["model"]) == name])
        for name in names
    )
    origin = Origin(format="thc1006-v100", sha256=DIGEST, source=SOURCE, licence="CC0-1.0")
    return assemble(ParsedFiles(parts=parts), {}, origin)


def _part(phase: str, model: str, rows: list[dict[str, str]]) -> Part:
    known = MODELS[model]
    depths = sorted({int(row["n_max"]) for row in rows} - {0})
    regime = ImportedFacts(sampling="greedy", thinking=phase.startswith("thinking"))
    gpus = ImportedFacts(gpu=", ".join([CARD] * known.cards))
    return Part(
        name=f"{model}-{phase}",
        suite="thc1006-prompts40",
        methods={f"n{depth}": known.method.format(depth) for depth in depths},
        records=tuple(_records(rows)),
        facts=RIG | known.facts | gpus | (SAMPLED if "temp0.7" in phase else regime),
        tasks=TASKS,
    )


def _records(rows: list[dict[str, str]]) -> Iterator[Record]:
    """Yield a record per row, in the author's order of prompts; plain rows have no counters."""
    for row in sorted(rows, key=lambda each: (int(each["n_max"]), int(each["prompt_idx"]))):
        drafting = row["config"] != BASELINE
        yield Record(
            arm=row["config"],
            prompt=f"{row['category']}-{row['prompt_idx']}",
            place=f"{TABLE}: {row['phase']}, {row['model']}, {row['config']}",
            category=row["category"],
            prompt_tokens=int(row["prompt_n"]),
            prompt_ms=float(row["prompt_ms"]),
            output_tokens=int(row["predicted_n"]),
            decode_ms=float(row["predicted_ms"]),
            drafted=int(row["draft_n"]) if drafting else None,
            accepted=int(row["draft_n_accepted"]) if drafting else None,
            finish="length",
        )


def main() -> None:
    """Write the results into the collection, and print which data of the source are left out."""
    made = results(Path(sys.argv[1]))
    for each in made.submissions:
        path = result_file.write(each, ROOT / "results" / "community")
        sys.stdout.write(f"{path.name}: {len(each.trials)} trials\n")
    sys.stdout.writelines(f"left out: {line}\n" for line in made.left_out)


if __name__ == "__main__":
    main()
