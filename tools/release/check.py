"""Make the files of a release and try them: `python -m tools.release.check FOLDER [--tag v1.2.3]`.

The program compares the stated versions and builds the wheel, and the container if this machine can
run containers. Wheel and container each measure this machine and validate the result. `make
release-check` calls this program.
"""

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.release import wheel, words

ROOT = Path(__file__).resolve().parents[2]
CONTAINERS = ("docker", "podman")
RESULT = "result.json"
STEPS = (("run", "--quick", "--output", RESULT), ("validate", RESULT))


def main() -> int:
    """Check and make the files of the release, and print each step with its time.

    Return 1 for an error, and 3 if a container is required but no program can run it.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tag", default="")
    parser.add_argument("--need-container", action="store_true")
    given = parser.parse_args()
    said = words.read(ROOT)
    if found := words.problems(said, given.tag):
        _print("\n".join(found))
        return 1
    engine = container_engine()
    if engine is None and given.need_container:
        _print("Neither docker nor podman runs here, but --need-container was given.")
        return 3
    shutil.rmtree(given.folder, ignore_errors=True)
    files = given.folder.resolve() / "files"
    files.mkdir(parents=True)
    (files.parent / "notes.md").write_text(said.notes, "utf-8")
    try:
        try_wheel(files)
        if engine is not None:
            try_container(engine, files, said.version)
    except subprocess.CalledProcessError as error:
        _print(f"Exit code {error.returncode} from: {' '.join(map(str, error.cmd))}")
        return 1
    (files / "SHA256SUMS").write_text(checksums(files), "utf-8")
    if engine is None:
        _print("The container was not built: neither docker nor podman runs here.")
    _print(f"{said.version} ({said.day}) is in {given.folder}/files, with notes in {given.folder}:")
    _print(checksums(files))
    return 0


def try_wheel(files: Path) -> None:
    """Build the wheel into `files`; measure and validate with the wheel in its own environment."""
    place = files.parent / "try"
    place.mkdir()
    with timed("wheel built"):
        built = wheel.build(files)
    with timed("installed with its declared dependencies"):
        program = wheel.environment(built, place / "venv", extras=("server",))
    alone = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    for step in STEPS:
        with timed(f"draftmap {step[0]}"):
            subprocess.run([str(program), *step], cwd=place, env=alone, check=True)


def try_container(engine: str, files: Path, version: str) -> None:
    """Build the image, measure and validate with it, and save it as a file for `docker load`."""
    image, place = f"draftmap:{version}", files.parent / "container"
    place.mkdir()
    place.chmod(0o777)  # writable for the user of the image
    with timed("container built"):
        build = [engine, "build", "--file", "Containerfile", "--tag", image, "."]
        subprocess.run(build, cwd=ROOT, check=True)
    for step in STEPS:
        with timed(f"container {step[0]}"):
            start = [engine, "run", "--rm", "--volume", f"{place}:/results", image]
            subprocess.run([*start, *step], check=True)
    saved = place / "image.tar"
    subprocess.run([engine, "save", "--output", str(saved), image], check=True)
    with (
        saved.open("rb") as plain,
        gzip.open(files / f"draftmap-{version}-container.tar.gz", "wb") as packed,
    ):
        shutil.copyfileobj(plain, packed)
    saved.unlink()


def container_engine() -> str | None:
    """The first program that can run containers here, with its daemon running; else `None`."""
    for name in filter(shutil.which, CONTAINERS):
        if subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return name
    return None


def checksums(folder: Path) -> str:
    """The files in a folder with their digests, as `sha256sum` lists them."""
    names = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in names)


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print how long a step took."""
    began = time.monotonic()
    yield
    _print(f"  {name:<40} {time.monotonic() - began:4.0f} s")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
