"""One file of weights is one model on the site, under any name in its results."""

from dataclasses import replace
from pathlib import Path

import pytest

from estimates.identity import canonical_name
from pipeline.data.database import open_database
from planner.presets import presets
from schemas.submission import Submission
from schemas.vocabulary import WEIGHTS
from tests.samples import sample, sample_bytes

A, B = "a" * 64, "b" * 64
F16 = next(each for each in WEIGHTS.values() if each.preset == "smollm2-135m:f16")
KNOWN = sample()


def named(
    name: str, sha256: str | None, at: int, *, draft: tuple[str, str] | None = None
) -> Submission:
    """A campaign on a separate machine and day, with a target of this name and digest."""
    drafts = KNOWN.drafts
    if draft is not None:
        drafts = (replace(drafts[0], name=draft[0], sha256=draft[1]), *drafts[1:])
    return replace(
        KNOWN,
        engine=replace(KNOWN.engine, runner="openai"),  # it need not state a digest
        contributor=f"person{at}",
        measured_from=f"2026-11-{10 + at}T09:00:00Z",
        measured_until=f"2026-11-{10 + at}T10:00:00Z",
        target=replace(KNOWN.target, name=name, sha256=sha256),
        drafts=drafts,
    )


def targets(folder: Path, *submissions: Submission) -> list[tuple[str, int]]:
    """The models on the site, with the number of their results."""
    written(folder, *submissions)
    rows = open_database(folder).execute(
        "select target_label, count(*) from identity group by target_label order by target_label"
    )
    return rows.fetchall()


def written(folder: Path, *submissions: Submission) -> None:
    place = folder / "community"
    place.mkdir(parents=True)
    for each in submissions:
        data = sample_bytes(each)
        (place / canonical_name(each, data)).write_bytes(data)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        # Weights with the same bytes get the name on which three accounts agree.
        ([("Tiny", A), ("tiny-copy", A), ("Tiny", A), ("Tiny", A)], [("Tiny", 4)]),
        # Two accounts rename nothing, and neither does the first of equally frequent names.
        ([("Tiny", A), ("Tiny", A), ("tiny-copy", A)], [("Tiny", 2), ("tiny-copy", 1)]),
        ([*[("Tiny-B", A)] * 3, *[("Tiny-A", A)] * 3], [("Tiny-A", 3), ("Tiny-B", 3)]),
        # A preset's name comes first, however few use it.
        ([("my-model", F16.id), ("my-model", F16.id)], [("SmolLM2-135M-Instruct", 2)]),
        # Other bytes are joined by name, and so are weights without a digest.
        ([("Tiny", A), ("Tiny", B), ("Tiny", None)], [("Tiny", 3)]),
        ([("Tiny", A), ("Other", B), ("Third", None)], [("Other", 1), ("Third", 1), ("Tiny", 1)]),
    ],
)
def test_the_same_bytes_are_one_model(
    given: list[tuple[str, str | None]], shown: list[tuple[str, int]], tmp_path: Path
) -> None:
    submissions = [named(name, digest, at) for at, (name, digest) in enumerate(given)]

    assert targets(tmp_path, *submissions) == shown


def test_the_cells_of_both_names_are_the_same(tmp_path: Path) -> None:
    written(
        tmp_path,
        named("Tiny", A, 0, draft=("Small", B)),
        named("Tiny", A, 1, draft=("Small", B)),
        named("Tiny", A, 2, draft=("Small", B)),
        named("tiny-copy", A, 3, draft=("Small", B)),
    )

    connection = open_database(tmp_path)

    query = "select count(distinct target), count(distinct address_stem) from identity"
    assert connection.execute(query).fetchone() == (1, 1)
    names = connection.execute("select distinct target_name from submission").fetchall()
    assert names == [("Tiny",)]


def test_every_known_digest_is_that_of_a_preset() -> None:
    for each in WEIGHTS.values():
        preset = presets()[each.preset]

        assert (each.name, each.quantisation) == (preset.model, preset.quantisation)
        assert len(bytes.fromhex(each.id)) == 32
