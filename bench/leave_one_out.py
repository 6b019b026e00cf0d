"""Leave each person out in turn, and measure how far any printed number moves.

`python -m bench.leave_one_out` derives everything from `results/` once with all people, and once
without each of them: the people of published figures and the accounts of measured results. It
prints, for each person, what moves of devices and models that the person did not measure, and the
largest change of a prediction; then the number of people who move a figure of others, and the 95th
percentile of the changes of predictions. `--some N` takes N people at regular intervals. The exit
code is 1 if anybody moves a figure or a rate of others.
"""

import argparse
import json
import math
import shutil
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.cache import Cache
from pipeline.data.database import open_database
from pipeline.difference import Own, State, moved_others
from planner.names import read_model

RESULTS = Path(__file__).resolve().parents[1] / "results"
PEOPLE = "select distinct person from figure order by person"
# A person's pairs are those of their figures and, for an account, those of its files, also if
# doubts keep them from the map.
OWN = """
    select distinct figure.device, figure.target, pair.target_label
    from figure join pair using (device, target) where person = $person
    union
    select setup.device, setup.target, setup.target_label
    from setup
    where coalesce(lower(contributor), 'anonymous') = $person
"""
# The badge counts an account's own files.
BADGE = ("badge",)


def person_of(document: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The person of a published row, as in the table `figure`."""
    source = document["source"]
    found: str = (
        row.get("contributor") or source.get("author") or source.get("publisher") or source["id"]
    )
    return found


def without(person: str, folder: Path) -> bool:
    """Copy the results without a person's speculative rows and without an account's files.

    Return whether there are such files.
    """
    shutil.copytree(RESULTS, folder)
    for path in (folder / "published").glob("*.json"):
        document = json.loads(path.read_bytes())
        rows = [
            row
            for row in document["rows"]
            if row["kind"] != "speculation" or person_of(document, row) != person
        ]
        if rows != document["rows"]:
            path.write_text(
                json.dumps(document | {"rows": rows}), "utf-8"
            ) if rows else path.unlink()
    own = [
        path
        for path in (folder / "community").rglob("*.json")
        if (json.loads(path.read_bytes()).get("contributor") or "anonymous").lower() == person
    ]
    for path in own:
        path.unlink()
    return bool(own)


def predicted(before: State, after: State) -> Iterator[tuple[float, str]]:
    """Each prediction's change, as the distance of logarithms."""
    for (machine, model), old in before.predictions.items():
        new = after.predictions.get((machine, model), old)
        yield abs(math.log(new / old)), f"{machine} with {model}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--some", type=int, metavar="N")
    chosen = parser.parse_args(arguments)
    movers, moves = 0, []
    with TemporaryDirectory() as name:
        cache = Cache(Path(name) / "cache")
        whole = open_database(RESULTS, cache=cache)
        before = State.of(whole)
        people = [person for (person,) in whole.sql(PEOPLE).fetchall()]
        for person in people[:: max(1, len(people) // (chosen.some or len(people)))]:
            rows = whole.execute(OWN, {"person": person}).fetchall()
            folder = Path(name) / "results"
            own_files = without(person, folder)
            own = Own(
                pairs=frozenset({*(row[:2] for row in rows), *([BADGE] if own_files else [])}),
                models=frozenset(read_model(label).slug for _, _, label in rows),
            )
            after = State.of(open_database(folder, cache=cache))
            shutil.rmtree(folder)
            others = [x for x in moved_others(before, after, own) if "prediction" not in x]
            distance, what = max(predicted(before, after))
            movers += bool(others)
            moves.append(distance)
            sys.stdout.write(
                f"{person}: {'; '.join(others[:3]) or 'moves nobody'}; "
                f"a prediction by {distance:.3f} ({what})\n"
            )
            sys.stdout.flush()
    high = statistics.quantiles([*moves, *moves], n=20)[-1]
    sys.stdout.write(
        f"{len(moves)} people; {movers} move a figure of others; "
        f"95 % of the predictions' largest changes are below {math.expm1(high):.1%}\n"
    )
    return 1 if movers else 0


if __name__ == "__main__":
    sys.exit(main())
