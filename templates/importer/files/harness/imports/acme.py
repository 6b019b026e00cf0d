"""Import the answers of Acme's bench: one JSON object per line, one file per arm."""

from collections.abc import Sequence

from harness.imports.json_values import MS_PER_S, Value, rows
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, by_arm
from harness.imports.source_files import Given

_FIGURES = {
    "prompt": "prompt_id!the name of the prompt",
    "category": "task",
    "prompt_tokens": "prompt_tokens",
    "output_tokens": "output_tokens",
    "drafted": "drafted",
    "accepted": "accepted",
}


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read each file as an arm; the first is the baseline."""
    pairs = by_arm(files)
    part = Part(
        name="acme",
        suite="acme",
        facts=ImportedFacts(engine="Acme"),
        methods={arm: None for arm, _ in pairs},
        records=tuple(_record(arm, row) for arm, file in pairs for row in rows(file)),
    )
    return ParsedFiles([part])


def _record(arm: str, row: Value) -> Record:
    """Read one answer. `decode_s` covers all tokens but the first, as `Record.decode_ms` does."""
    seconds = row.at("decode_s").number()
    if seconds is None:
        row.at("decode_s").refuse("the time of the answer")
    figures = row.fields(Record, _FIGURES)
    return Record(arm=arm, place=row.place, decode_ms=seconds * MS_PER_S, **figures)


FORMAT = Format(
    read=read,
    signs=(frozenset({"prompt_id", "decode_s"}),),
    help="""`--save answers.jsonl`, once without and once with a draft. Lacks machine, method and
sampling.

- `--from acme off.jsonl on.jsonl --map method=mtp:n_max=3 --map target=Sample-27B
--map quantisation=Q4_K_M --map backend=cuda --map gpu="NVIDIA GeForce RTX 3090"
--map sampling=greedy --map date=2026-05-17`""",
)
