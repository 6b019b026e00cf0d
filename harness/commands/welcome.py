"""Print what `draftmap` shows without arguments: this machine's hardware, and the next steps."""

from collections.abc import Iterator

from harness import PROGRAM, console
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.machine import engines
from harness.machine.detect import machine
from harness.models.overview import ModelEntry, ModelsOverview, fitting, overview
from planner.presets import default_draft
from schemas.codec import encode
from schemas.submission import Machine
from schemas.vocabulary import say

_MB_PER_GB = 1000


def welcome(*, json: bool) -> None:
    """Print this machine's hardware, and the commands that come next."""
    version, server = engines.package_version(), engines.server_program()
    if json:
        here = {"machine": encode(machine()), "binding": version, "server": server}
        console.print_json(here)
        return
    found = overview(DEFAULT_CONTEXT_TOKENS)
    console.print_lines(lines(machine(), found, version=version, server=server))


def lines(
    here: Machine, models: ModelsOverview, *, version: str | None, server: str | None
) -> Iterator[str]:
    yield "Draftmap measures whether speculative decoding makes a language model faster here:"
    yield "a cheap method drafts a few tokens, and the model checks them all in one step."
    yield ""
    cards = say.listed([card.name for card in here.gpus]) if here.gpus else "no GPU seen"
    yield f"Machine  {here.cpu.name}, {cards}"
    engine = " and ".join(filter(None, (version and f"{engines.PACKAGE} {version}", server)))
    none = f"none: no {engines.PACKAGE}, and no {engines.SERVER_PROGRAM} on PATH"
    yield f"Engine   {engine or none}"
    yield f"Models   {fitting(models)}"
    if models.files:
        files = say.count(len(models.files), "GGUF file")
        owners = say.listed([*dict.fromkeys(file.of for file in models.files)])
        yield f"Files    {files} from {owners}: `{PROGRAM} models` lists them"
    yield ""
    if version is None and server is None:
        yield f"Next     {engines.INSTALL_ENGINE}"
        return
    yield "Next     a first verdict, with a small model that is downloaded:"
    yield f"           {PROGRAM} run --quick"
    target = _suggested(models)
    if target is not None:
        sizes = (x.size_mb or 0 for x in (target.preset, default_draft(target.preset.name)) if x)
        size = "" if target.on_disk else f" (fetches {sum(sizes) / _MB_PER_GB:.1f} GB)"
        yield f"         the same with a widely used model{size}:"
        yield f"           {PROGRAM} run --quick --target {target.preset.name}"
    yield "         what fits and how much a draft gains, without a download:"
    yield f"           {PROGRAM} plan MODEL"
    yield f"All known models: {PROGRAM} models   All commands: {PROGRAM} --help"


def _suggested(found: ModelsOverview) -> ModelEntry | None:
    """Return a hub model that fits into memory with its draft, preferably one on this disk.

    A GPU gets the largest such model, a CPU the smallest.
    """
    fits = {(pair.pair.target, pair.pair.draft) for pair in found.pairs if pair.fits == "yes"}
    able = [
        each
        for each in found.models
        if each.preset.repository and (draft := default_draft(each.preset.name))
        if (each.preset.name, draft.name) in fits
    ]
    sign = 1 if found.memory.kind == "gpu" else -1
    return max(able, key=lambda each: (each.on_disk, sign * (each.needed_bytes or 0)), default=None)
