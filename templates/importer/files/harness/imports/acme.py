"""Import the answers of Acme's bench: one JSON object per line, one file per arm."""

from collections.abc import Sequence

from harness.imports.json_values import MS_PER_S, JsonObject, lines
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, arms, by_arm
from harness.imports.source_files import Given


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read each file as an arm; the first is the baseline."""
    pairs = by_arm(files)
    records = tuple(_record(arm, row) for arm, file in pairs for row in lines(file))
    part = Part(
        name="acme",
        suite="acme",
        facts=ImportedFacts(engine="Acme"),
        arms=arms(records, dict(pairs), remedy="give each row a prompt_id"),
        records=records,
    )
    return ParsedFiles(parts=(part,))


def _record(arm: str, row: JsonObject) -> Record:
    """Read one answer. `decode_s` covers all tokens but the first, as `Record.decode_ms` does."""
    seconds = row.needed("decode_s", row.number("decode_s"), "the time of the answer")
    return Record(
        arm=arm,
        prompt=row.needed("prompt_id", row.text("prompt_id"), "the name of the prompt"),
        place=row.place,
        category=row.text("task"),
        prompt_tokens=row.count("prompt_tokens"),
        output_tokens=row.count("output_tokens"),
        decode_ms=seconds * MS_PER_S,
        drafted=row.count("drafted"),
        accepted=row.count("accepted"),
    )


FORMAT = Format(
    read=read,
    signs=(frozenset({"prompt_id", "decode_s"}),),
    help="""`--save answers.jsonl`, once without and once with a draft. Lacks machine, method and
sampling.

- `--from acme off.jsonl on.jsonl --map method=mtp:n_max=3 --map target=Sample-27B
--map quantisation=Q4_K_M --map backend=cuda --map gpu="NVIDIA GeForce RTX 3090"
--map sampling=greedy --map date=2026-05-17`""",
)
