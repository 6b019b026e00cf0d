"""Import what Acme writes: a line of JSON for each answer, a file for each arm."""

from collections.abc import Iterator, Sequence

from harness.imports.counting import rounds
from harness.imports.json_lines import lines
from harness.imports.json_object import MS_PER_S
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, arms
from harness.imports.source_files import Given, by_arm


def read(files: Sequence[Given]) -> ParsedFiles:
    """One part; every file is an arm, the first one the baseline."""
    pairs = by_arm(files)
    records = tuple(record for arm, file in pairs for record in _records(arm, file))
    part = Part(
        name="acme",
        suite="acme",
        facts=ImportedFacts(engine="Acme"),
        arms=arms(records, pairs, {}),
        records=records,
    )
    return ParsedFiles(parts=(part,), left_out=("rates, which follow from tokens and times",))


def _records(arm: str, file: Given) -> Iterator[Record]:
    for row in lines(file):
        tokens, accepted = row.count("tokens"), row.count("accepted")
        yield Record(
            arm=arm,
            prompt=row.needed("prompt", row.text("prompt"), "the name of a prompt"),
            place=row.place,
            output_tokens=tokens,
            decode_ms=row.needed("seconds", row.number("seconds"), "seconds") * MS_PER_S,
            drafted=row.count("drafted"),
            accepted=accepted,
            rounds=None if accepted is None else rounds(tokens, accepted),
        )


FORMAT = Format(
    read=read,
    help="""what Acme writes with `--json`. Has tokens, times and counters, and lacks the rest.

- `--from acme base.jsonl mtp.jsonl --map method=mtp --map n_max=2 --map target=Qwen3-8B`""",
)
