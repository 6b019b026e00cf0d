"""Search texts on which the gate raises or its paths disagree: `python -m tools.fuzz [SECONDS]`.

With `atheris` installed the search is guided by coverage of `schemas`; without it, valid files are
changed at random, which finds less and says so. Exit code 1 and the input in a file at the first
failure.
"""

import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from schemas import contract
from tools.examples import valid_files

DEFAULT_SECONDS = 60
FAILED = Path("build") / "fuzz-failure.json"
_TOKENS = (
    b"",
    b"null",
    b"-0",
    b"1e999",
    b'"',
    b"\\u202e",
    b"{",
    b"]",
    b",",
    b"\xff",
    b"NaN",
    b"\n",
)


def judge(data: bytes) -> None:
    """The properties: findings or none, in printable lines, and never an exception."""
    found = contract.findings(data)
    assert all(finding.line().isprintable() for finding in found)


def main() -> int:
    """Fuzz for some seconds; print how many texts were judged."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_SECONDS
    try:
        import atheris  # noqa: PLC0415 - optional, for the nightly job only
    except ImportError:
        return _change_at_random(seconds)
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-max_len=20000"], judge)
    atheris.Fuzz()
    return 0


def _change_at_random(seconds: float) -> int:
    """Without coverage: a few bytes of a valid file are replaced, dropped or doubled."""
    rng = random.Random(time.time_ns())  # noqa: S311 - a new search every night
    texts, ends, count = list(valid_files().values()), time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        data = changed(rng, rng.choice(texts))
        with ExitStack() as failing:
            failing.callback(_keep, data)
            judge(data)
            failing.pop_all()
        count += 1
    print(f"{count} texts judged without atheris (no coverage); none failed")  # noqa: T201 - the result of this command
    return 0


def _keep(data: bytes) -> None:
    """Keep the text that was being judged when something was raised."""
    FAILED.parent.mkdir(exist_ok=True)
    FAILED.write_bytes(data)
    print(f"failed; the text is in {FAILED}", file=sys.stderr)  # noqa: T201 - said to a person


def changed(rng: random.Random, data: bytes) -> bytes:
    """One to four places changed."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(data) + 1)
        end = start + rng.choice((0, 1, 2, 8, 40))
        put = rng.choice((*_TOKENS, data[start:end] * 2, rng.randbytes(3)))
        data = data[:start] + put + data[end:]
    return data


if __name__ == "__main__":
    sys.exit(main())
