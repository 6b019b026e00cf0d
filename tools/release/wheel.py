"""Build the wheel and install it with only its declared dependencies, without a network.

The dependencies are linked from the environment that runs this program, which was installed from a
lock file.
"""

import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("planner", "draftmap", "estimates", "harness", "schemas")
FILES = ("pyproject.toml", "LICENSE")


def build(folder: Path) -> Path:
    """Build the wheel in `folder` from a copy of its sources; return the wheel's path."""
    source = folder / "source"
    for name in FOLDERS:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=unwanted)
    for name in FILES:
        shutil.copy(ROOT / name, source)
    words = ["wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    if int(metadata.version("setuptools").partition(".")[0]) >= 80:  # else pip fetches setuptools
        words.append("--no-build-isolation")
    subprocess.run([sys.executable, "-m", "pip", *words, str(source)], check=True)
    shutil.rmtree(source)
    return next(folder.glob("*.whl"))


def environment(wheel: Path, venv: Path, extras: tuple[str, ...] = ()) -> Path:
    """Create an environment with only the wheel and its dependencies; return its `draftmap`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    programs = venv / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / ("python.exe" if sys.platform == "win32" else "python"))
    install = ("install", "--quiet", "--no-deps", "--no-index", str(wheel))
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    site = Path(found.stdout.strip())
    before = {path.name for path in site.iterdir()}
    assert {name for name in before if "dist-info" not in name} == {"draftmap"}
    for entry in _entries(dependencies(extras)):
        link = site / entry.name
        if not link.exists():
            shutil.copytree(entry, link) if sys.platform == "win32" else link.symlink_to(entry)
    return programs / ("draftmap.exe" if sys.platform == "win32" else "draftmap")


def dependencies(extras: tuple[str, ...] = ()) -> dict[str, metadata.Distribution]:
    """The installed dependencies of the project and of these extras, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    declared = [*project["dependencies"], *(text for name in extras for text in optional[name])]
    waiting = [Requirement(text) for text in declared]
    found: dict[str, metadata.Distribution] = {}
    while waiting:
        asked = waiting.pop()
        chosen = asked.extras or {""}
        needed = not asked.marker or any(asked.marker.evaluate({"extra": each}) for each in chosen)
        if needed and asked.name not in found:
            found[asked.name] = metadata.distribution(asked.name)
            for text in found[asked.name].requires or ():
                inner = Requirement(text)
                extras = ({"extra": each} for each in ("", *asked.extras))
                if not inner.marker or any(map(inner.marker.evaluate, extras)):
                    waiting.append(inner)
    return found


def _entries(distributions: dict[str, metadata.Distribution]) -> set[Path]:
    """The top-level files and folders of these distributions in site-packages."""
    return {
        Path(str(each.locate_file(file.parts[0])))
        for each in distributions.values()
        for file in each.files or ()
        if file.parts[0] not in ("..", "__pycache__")
    }
