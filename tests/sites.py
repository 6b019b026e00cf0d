"""The site for tests: built from a small corpus, once for all test processes.

One of its submissions has text that tries to become code, as far as the format allows. The site
also has the submissions of `tests.hostile_site`, so that one site serves all tests.
"""

import hashlib
import os
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

from filelock import FileLock

from pipeline.cache import Cache
from pipeline.site.build import build
from pipeline.site.pages.answer_files import answer_files
from pipeline.site.pages.model import Asset, Site
from planner.evidence import pairs
from schemas.submission import Submission
from tests.builds import over_builds
from tests.concurrency import concurrent
from tests.contexts import at_depth
from tests.hostile_site import TRICKS, file_stem, submissions
from tests.samples import SampleCosts, sample, sample_bytes

ADDRESS = "https://maps.example/draft/"
PUBLISHED = Path(__file__).resolve().parents[1] / "results" / "published"
HOSTILE_NOTE = (
    '"onmouseover="boom()" {{ 7 * 7 }} {% raw %} [x](javascript:boom()) '
    "&lt;script&gt;boom()&lt;/script&gt; <script>boom()</script> </p><img src=x onerror=boom()> "
    "\U0001f469\u200d\U0001f4bb <5 °C"
)
SUBMISSION = re.compile(r'href="[^"]*submissions/([^"/#]+)/')
HOSTILE_NAME = "&lt;/title&gt;&lt;script&gt;boom()&lt;/script&gt;' onload='boom()"


def corpus() -> tuple[Submission, ...]:
    """Four cards, a processor, three sizes, two engines, three builds, two depths; 3 is Eve's."""
    slow = SampleCosts(step_ms=40.0, extra_width_ms=20.0, draft_token_ms=20.0)
    hostile = sample(
        seed=4, gpu="Evil' onload='boom()", vram_mib=12288, blocks=1, contributor="eve"
    )
    return (
        sample(seed=1, gpu="NVIDIA GeForce RTX 4060", backend="cuda", prompts_per_task=4),
        sample(seed=2, gpu="NVIDIA GeForce RTX 4060", backend="vulkan", costs=slow),
        sample(seed=3, gpu=None, backend="cpu", parameters=500_000_000, costs=slow, blocks=1),
        replace(hostile, notes=HOSTILE_NOTE, target=replace(hostile.target, name=HOSTILE_NAME)),
        sample(
            seed=5,
            gpu="NVIDIA GeForce RTX 3060",
            vram_mib=12288,
            parameters=14_000_000_000,
            tasks=("code", "math"),
            blocks=1,
        ),
        _through_another_engine(concurrent(1, 4, blocks=1)),
        *over_builds(),
        at_depth(512),
        at_depth(4096),
    )


def _through_another_engine(submission: Submission) -> Submission:
    """The same card again, but as a server of another engine with several requests at once."""
    engine = replace(submission.engine, runner="openai", name="vLLM", package_version=None)
    return replace(submission, engine=engine, probes=None)


def write_corpus(folder: Path) -> Path:
    """A results folder with `corpus()`, the hostile ones and the published figures."""
    shutil.copytree(PUBLISHED, folder / "published")
    (folder / "community").mkdir()
    for number, submission in enumerate(corpus()):
        path = folder / "community" / f"{submission_name(number)}.json"
        path.write_bytes(sample_bytes(submission))
    for name, submission in submissions().items():
        path = folder / "community" / f"{file_stem(name)}.json"
        path.write_bytes(sample_bytes(submission))
    return folder


def submission_name(number: int) -> str:
    """The name of a submission of the corpus, which is also its address."""
    submission = corpus()[number]
    digest = hashlib.sha256(sample_bytes(submission)).hexdigest()
    day = submission.measured_from[:10].replace("-", "")
    return f"rig{number}--sample--{day}-{digest[:8]}"


@cache
def built_site(temporary: Path) -> Path:
    """The site of `corpus()` below pytest's base folder; tests must not change it.

    Parallel test processes share a common folder: the first that needs the site builds it there,
    and the others wait for it.
    """
    folder = _common(temporary) / "draftmap"
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "built").exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process that was ended while it built
            folder.mkdir()
            results = write_corpus(folder / "results")
            cache = with_answers(temporary, folder / "cache")
            build(results=results, output=folder / "site", cache=cache)
            (folder / "built").touch()
    return folder / "site"


def empty_site(temporary: Path) -> Path:
    """A site without results but with a web address, for all test processes."""
    folder = _common(temporary) / "nothing"
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "built").exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process that was ended while it built
            cache = known(built_site(temporary), folder / "cache")
            build(results=folder / "results", output=folder / "site", site_url=ADDRESS, cache=cache)
            (folder / "built").touch()
    return folder / "site"


def known(site: Path, cache: Path) -> Path:
    """A cache for another build: a copy of the cache of one of the sites above."""
    return shutil.copytree(site.with_name("cache"), cache)


def answers_that_ship(temporary: Path) -> list[Asset]:
    """The files of answers from the shipped evidence, computed once for all test processes."""
    folder = _answers(temporary)
    with FileLock(folder.with_suffix(".lock")):
        return list(answer_files(Site(bundle="", cache=Cache(folder)), pairs()))


def with_answers(temporary: Path, cache: Path) -> Path:
    """A cache that also has the shipped answers; another site mostly shares them."""
    answers_that_ship(temporary)
    shutil.copytree(_answers(temporary), cache, dirs_exist_ok=True)
    return cache


def _answers(temporary: Path) -> Path:
    return _common(temporary) / "answers"


def _common(temporary: Path) -> Path:
    """The folder that all test processes of a run share."""
    return temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary


def addresses(site: Path) -> list[str]:
    """The sorted addresses of a built site's pages, except pages only about hostile rigs."""
    hostile = set(hostile_addresses(site))
    found = (path.parent.relative_to(site).as_posix() for path in site.rglob("index.html"))
    names = ("" if name == "." else f"{name}/" for name in found)
    return sorted(name for name in names if name not in hostile)


@cache
def hostile_addresses(site: Path) -> tuple[str, ...]:
    """The pages of the hostile submissions, and of devices and models that only they use."""
    own = {file_stem(name) for name in TRICKS}
    places = (page for kind in ("devices", "models") for page in site.glob(f"{kind}/*/index.html"))
    about = (page for page in places if _led_to(page) and _led_to(page) <= own)
    return tuple(
        sorted(
            {f"submissions/{stem}/" for stem in own}
            | {f"{page.parent.relative_to(site).as_posix()}/" for page in about}
        )
    )


def _led_to(page: Path) -> set[str]:
    """The submissions that a page links to."""
    return set(SUBMISSION.findall(page.read_text("utf-8")))
