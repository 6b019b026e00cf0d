"""What does a fleet start in its tests? `worker …` is a worker, `cell …` measures a cell on it.

A cell writes when it begins and ends, keeps a journal of its steps per device, and answers with the
sample file that is valid. A step takes a moment, so that a kill can hit it.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

STEPS = 4
# The one that is killed in the middle.
LONG, LONG_STEPS = "long", 60
_STEP_S = 0.03


def work(arguments: list[str]) -> None:
    """A worker whose cells are measured by this file."""
    from harness.cli.app import main  # noqa: PLC0415 - a cell must start in a moment
    from harness.fleet import job  # noqa: PLC0415 - see above

    job.PROGRAM = [sys.executable, "-I", "-S", __file__, "cell"]
    sys.argv = ["draftmap", "fleet", "worker", *arguments]
    main()


def measure(arguments: list[str]) -> int:
    """A cell; 130 where it is interrupted, as `run` ends."""
    signal.signal(signal.SIGTERM, _interrupt)
    cell = arguments[arguments.index("--target") + 1]
    folder, device = Path(os.environ["FLEET_TEST"]), os.environ["DRAFTMAP_DEVICE"]
    journal = folder / f"{cell}-{device}.journal"
    if "--resume" not in arguments:
        journal.unlink(missing_ok=True)
    elif not journal.exists():
        return _fail("Error: nothing to resume: there is no journal")
    if cell == "bad":
        return _fail("Error: bad is no model")
    _log(folder, "begins", cell, device, journal)
    try:
        for _ in range(len(_steps(journal)), LONG_STEPS if cell == LONG else STEPS):
            time.sleep(_STEP_S)
            with journal.open("a", encoding="utf-8") as file:
                file.write("step\n")
    except KeyboardInterrupt:
        _log(folder, "ends", cell, device, journal)
        return 130
    text = Path(os.environ["FLEET_SAMPLE"]).read_text("utf-8")
    output = Path(arguments[arguments.index("--output") + 1]) / "result.json"
    output.write_text(text.replace("Fleet Cell", f"Fleet {cell}"), "utf-8")
    journal.unlink()
    _log(folder, "ends", cell, device, journal)
    return 0


def _fail(line: str) -> int:
    sys.stderr.write(f"{line}\n")
    return 1


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _steps(journal: Path) -> list[str]:
    return journal.read_text("utf-8").splitlines() if journal.exists() else []


def _log(folder: Path, word: str, cell: str, device: str, journal: Path) -> None:
    line = f"{time.monotonic()} {word} {cell} {device} {len(_steps(journal))}\n"
    with (folder / "log").open("a", encoding="utf-8") as file:
        file.write(line)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    sys.exit(work(rest) if command == "worker" else measure(rest))
