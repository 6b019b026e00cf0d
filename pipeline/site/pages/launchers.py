"""Write `assets/v1/`, from which a launcher reads whether to switch speculation on, and presets.

`resolve.json` has the ids of devices and models and the words of engines; the file of a model has a
row for each device, quantisation and method. `schemas/launcher.v1.schema.json` describes both; the
page *Data* has the ten lines that read them. `presets/DEVICE.ini` has the models with which a
method is worth it on a device, as llama-server's `--models-preset` reads them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import orjson

from pipeline.site.pages.model import Asset
from planner.advice import verdict_of
from planner.answer import Answer
from planner.choices import PlanOption
from planner.engine_commands import launch_words
from planner.engine_files import settings_text
from planner.engine_table import ENGINES
from planner.evidence import PairFigure, rig_of
from planner.listed import ListedMachine
from planner.machines import Computer
from planner.speed import SpeedEstimate
from schemas.codec import Json
from schemas.vocabulary.documents import document

FOLDER, PRESETS, VERSION = "assets/v1", "presets", 1
# The quantisation that stands for those of about as many bits.
QUANTISATIONS = {"4-bit": "Q4_K_M", "8-bit": "Q8_0", "16-bit": "F16"}
LICENCE = "CC BY 4.0"
IGNORED: Sequence[str] = document("launchers", "pipeline.site")["ignored"]
COLUMNS = ("on", "depth", "expected", "low", "high", "people")
SWITCHES = {"Yes": True, "Probably": True, "Try it": None}
DIGITS = 2


def methods_of(found: Answer) -> Mapping[str, Sequence[Json]]:
    """The row of each method; if a method can draft in several ways, of the fastest."""
    rows = [
        (each.gain.estimate, each.way.method, _row(each, each.gain))
        for each in found.options
        if each.fits and each.gain and each.way
    ]
    return {method: row for _, method, row in sorted(rows, key=itemgetter(0))}


def _row(option: PlanOption, gain: SpeedEstimate) -> Sequence[Json]:
    speedups = (round(each, DIGITS) for each in (gain.estimate, gain.low, gain.high))
    on = SWITCHES.get(verdict_of(option)[0], False)
    return [on, option.depth, *speedups, option.figures.people if option.figures else 0]


def preset_of(found: Answer) -> str:
    """The model's section of a preset, with the method of the answer.

    It is empty if the answer is no recommendation, or if a file in it is not on the hub.
    """
    line = found.command
    if line is None or not SWITCHES.get(found.verdict) or {"-m", "-md"} & {*line.words}:
        return ""
    return settings_text(line)


def devices_on_map(
    computers: Iterable[tuple[int, Computer]], pairs: Iterable[PairFigure]
) -> Mapping[int, str]:
    """The ids of the devices on the map, by the numbers of machines."""
    one_of_each = {pair.device: pair for pair in pairs}
    found: dict[int, str] = {}
    for number, computer in computers:
        rig = rig_of(computer)
        device = next((pair.device for pair in one_of_each.values() if rig.has(pair)), None)
        found |= {number: device} if device else {}
    return found


def device_ids(asked: Iterable[ListedMachine], on_map: Mapping[int, str]) -> Sequence[str]:
    """The id of each machine: of its device on the map, if no machine before it has this id."""
    ids: list[str] = []
    for number, each in enumerate(asked):
        device = on_map.get(number)
        ids.append(device if device and device not in ids else own_id(each))
    return ids


def own_id(machine: ListedMachine) -> str:
    """The id that the tables would give a machine of this name and memory."""
    return re.sub(r"[^a-z0-9]+", "-", _sized(machine).lower()).strip("-")


def _sized(machine: ListedMachine) -> str:
    stated = machine.gib is None or re.search(r"\d ?GB", machine.name)
    return machine.name if stated else f"{machine.name} {machine.gib:.0f} GB"


def names_file(
    devices: Iterable[tuple[ListedMachine, str]],
    models: Iterable[tuple[str, str]],
    as_of: str | None,
) -> Asset:
    """The ids of devices, by name with and without memory, and of models, by their keys.

    It also has the words that switch a method on in each engine.
    """
    ids: dict[str, str] = {}
    for machine, device in devices:
        for name in (machine.name, _sized(machine)):
            ids.setdefault(key(name), device)
    named = {spelling: model for name, model in models for spelling in _spellings(name)}
    return _asset(
        "resolve",
        "draftmap-launcher-names",
        as_of,
        ignored=IGNORED,
        devices=ids,
        models=named,
        engines={engine: launch_words(engine) for engine in ENGINES},
    )


def model_file(model: str, known: bytes, as_of: str | None) -> Asset:
    """The file of a model; `known` is JSON.

    `methods` are different results of `methods_of`. `devices` has, by device, the place of one of
    them for each quantisation.
    """
    about = {"model": model, "columns": COLUMNS, "quantisations": [*QUANTISATIONS]}
    return _asset(model, "draftmap-launcher", as_of, **about, **orjson.loads(known))


def preset_files(models: Iterable[bytes], as_of: str | None) -> Iterator[Asset]:
    """The preset of each device; a model is JSON, with its `preset_of` by device."""
    found: dict[str, list[str]] = {}
    for model in models:
        for device, section in orjson.loads(model).items():
            found.setdefault(device, []).append(section)
    for device, sections in found.items():
        head = f"; {', '.join(filter(None, ('Draftmap', device, as_of, LICENCE)))}\n"
        yield Asset(path=f"{PRESETS}/{device}.ini", data="\n".join((head, *sections)).encode())


def key(name: str) -> str:
    """The words of a name that tell devices or models apart."""
    words = re.findall(r"[a-z0-9.]+", re.sub(r"\([^()]*\)|^.*/", " ", name.lower()))
    return " ".join(word for word in words if word not in IGNORED)


def _spellings(name: str) -> Iterator[str]:
    """A model's key, and the key of repositories that repeat the family: `Qwen_Qwen3-8B`."""
    yield (own := key(name))
    if family := re.match(r"[a-z]+(?=\d)", own):
        yield f"{family[0]} {own}"


def _asset(name: str, kind: str, as_of: str | None, **content: object) -> Asset:
    values: Mapping[str, object] = {
        "format": kind,
        "version": VERSION,
        "as_of": as_of,
        "licence": LICENCE,
        **content,
    }
    return Asset(path=f"{FOLDER}/{name}.json", data=orjson.dumps(values))
