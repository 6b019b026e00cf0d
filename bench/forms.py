"""Send random and hostile forms about published figures, and see what one form moves.

`python -m bench.forms --forms 1000` draws forms about cards and models of a small collection and
about others, with extreme numbers, odd dates, private data and unusual letters. Each form that the
checks accept goes through the build of the tables as it arrives, unchecked, and as if a maintainer
had checked it. Unchecked, nothing but the form's own rows may change; checked, no figure, count,
badge or rate of another card, and no prediction for another model by more than 2 %. With
`--whole N`, N drawn forms and the union of all accepted ones are also built as whole sites, whose
links are checked. The exit code is 1 if any of that fails.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.cache import Cache
from pipeline.collection.discover import Source
from pipeline.collection.validation import findings_of
from pipeline.data.database import open_database
from pipeline.difference import State, differences
from pipeline.intake.figure_form import published
from pipeline.intake.figures import keys
from pipeline.intake.paths import PUBLISHED
from schemas.finding import Finding
from schemas.posted import UnreadableTextError

ROOT = Path(__file__).resolve().parents[1]
DAY = "2026-11-25"
SMALL = 12  # published files of the small collection
CARDS = ("RTX 3090 24 GB", "RTX 4090 24 GB", "2x RTX 3090 24 GB", "Apple M1 Ultra", "GB10")
MODELS = ("Qwen3.8-27B", "qwen3.8 27b", "Qwen3-8B", "Llama-3.1-8B-Instruct", "Nobody-9B")
METHODS = ("mtp", "dflash", "eagle3", "ngram-mod", "other")
NUMBERS = ("0", "0.01", "0.05", "1", "12", "28.2", "41.5", "600", "4999", "9999999", "nan", "-1")
ODD = ("", "x" * 300, "<b>", "=cmd|' /C calc'!A0", "hf_" + "a1B2" * 9, "ada@example.org", "\ufe0f")
DATES = ("2026-07", "2026-11-25", "2026-02-31", "2028-01", "2099-12", "0000-00", "2024-05-01")
TEXTS = ("who", "quantisation", "engine", "version", "note", "offload", "draft")


def drawn(rng: random.Random, number: int) -> dict[str, str]:
    """Draw the answers of a form; about half of the forms are plausible."""
    hostile = rng.random() < 0.5
    before = rng.uniform(5, 100)
    answers = {
        "url": f"https://example.org/t/{number}",
        "who": f"person {number % 40}",
        "date": "2026-07",
        "card": rng.choice(CARDS),
        "model": rng.choice(MODELS),
        "method": rng.choice(METHODS),
        "depth": str(rng.choice((1, 2, 3, 7, 1000))),
        "before": f"{before:.2f}",
        "after": f"{before * rng.lognormvariate(0.3, 1.0):.2f}",
        "task": rng.choice(("", "code", "chat")),
        "doubt": rng.choice(("", "", "approximate", "by-authors")),
        "streams": rng.choice(("", "1", "8")),
        "temperature": rng.choice(("", "0", "1")),
    }
    if hostile:
        answers |= {rng.choice(TEXTS): rng.choice(ODD)}
        answers |= {rng.choice(("before", "after", "speedup")): rng.choice((*NUMBERS, "crashed"))}
        answers |= {"date": rng.choice(DATES)} if rng.random() < 0.3 else {}
    if rng.random() < 0.2:
        answers |= {"before": "", "after": "", "speedup": f"{rng.lognormvariate(0.3, 1.0):.2f}"}
    return {name: text for name, text in answers.items() if text}


def accepted(answers: dict[str, str], folder: Path) -> tuple[str, bytes] | None:
    """The path and the content of a form's file; `None` if the checks refuse it."""
    try:
        name, data = published(answers, DAY, reported_by="eve")
    except UnreadableTextError:
        return None
    place = folder / name
    place.write_bytes(data)
    found = [*findings_of([Source(path=place, kind="published", place="corpus")])]
    place.unlink()
    return None if found else (f"{PUBLISHED}/{name}", data)


def collection(folder: Path, rng: random.Random) -> None:
    """Copy some published files, among them files about the cards and models of the forms."""
    there = sorted((ROOT / PUBLISHED).glob("*.json"))
    rng.shuffle(there)
    there.sort(key=lambda path: not any(each in path.read_text("utf-8") for each in MODELS[:4]))
    (folder / PUBLISHED).mkdir(parents=True)
    for path in there[:SMALL]:
        shutil.copy(path, folder / PUBLISHED)


def judged(count: int, seed: int) -> Iterator[tuple[str, bytes, list[Finding]] | None]:
    """Each form: its path, its content and what is wrong with its effect; `None` if refused."""
    rng = random.Random(seed)  # noqa: S311 - a simulation
    with TemporaryDirectory() as name:
        folder = Path(name)
        collection(folder, rng)
        before = State.of(open_database(folder / "results", cache=Cache(folder / "cache")))
        seen: set[str] = set()
        for number in range(count):
            form = accepted(drawn(rng, number), folder)
            if form is None or not seen.isdisjoint(own := {*keys(json.loads(form[1]))}):
                yield None
                continue
            seen |= own
            found = differences(folder, dict([form]), before)
            wrong = [each for each in found if isinstance(each, Finding)]
            (folder / form[0]).unlink()
            yield *form, wrong


def builds(forms: Sequence[tuple[str, bytes]]) -> bool:
    """Whether the whole site builds with these forms, checked, and has no broken link."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "results", folder / "results")
        for path, data in forms:
            document = json.loads(data) | {"checked_by": "mae"}
            (folder / path).write_text(json.dumps(document), "utf-8")
        site = folder / "site"
        for words in (
            ("pipeline", "build", "--results", str(folder / "results"), "--output", str(site)),
            ("tools.links", str(site), "tests/data/addresses-of-results.txt"),
            ("tools.evidence", str(site)),
            ("tools.private", str(site)),
        ):
            command = [sys.executable, "-m", *words]
            done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
            if done.returncode:
                sys.stdout.write(f"{' '.join(words[:2])}: {(done.stderr or done.stdout)[-2000:]}\n")
                return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forms", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", type=int, default=0, metavar="N")
    chosen = parser.parse_args(arguments)
    good: list[tuple[str, bytes]] = []
    found = Counter[str]()
    for each in judged(chosen.forms, chosen.seed):
        if each is None:
            found["refused"] += 1
            continue
        path, data, wrong = each
        good.append((path, data))
        found["accepted"] += 1
        found["accepted, with an effect on others"] += bool(wrong)
        sys.stdout.write("".join(f"{one.line()}\n" for one in wrong))
    rng = random.Random(chosen.seed)  # noqa: S311 - a simulation
    some = [[form] for form in rng.sample(good, min(chosen.whole, len(good)))]
    for forms in [*some, good] if chosen.whole else []:
        found["whole builds" if builds(forms) else "failed builds"] += 1
    for name, number in found.items():
        sys.stdout.write(f"{name}: {number}\n")
    return 1 if found["accepted, with an effect on others"] or found["failed builds"] else 0


if __name__ == "__main__":
    sys.exit(main())
