"""Identify the engine behind a server by its list of models and by pages that only it has.

What it does not state of itself stays out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from harness.campaign.model import Campaign
from harness.errors import BadInputError, suggestion
from harness.machine.detect import machine
from harness.runners.base import EngineReport
from harness.runners.devices import Backend
from harness.runners.http.client import Client, ServerRefusedError, ServerSilentError, count
from schemas.codec import Json
from schemas.submission import Engine, Machine, Settings

_MOST_SHOWN = 5
_FEWEST = 1000
_QUANTISATION = re.compile(
    r"(?:all |mostly )?(?P<name>[A-Za-z0-9][A-Za-z0-9_.]{0,29})(?: - (?P<size>Small|Medium|Large))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One model in a server's list. All but the id is `None` where the server does not state it.

    `root` is where vLLM and SGLang have the weights from: a repository of the hub or a folder.
    """

    id: str
    root: str | None = None
    owner: str | None = None
    context_tokens: int | None = None
    parameters: int | None = None
    file_bytes: int | None = None
    vocabulary_size: int | None = None
    quantisation: str | None = None


def read_models(answer: Json) -> tuple[Served, ...]:
    """The models in an answer to `/v1/models`; empty when it has another form."""
    listed = answer.get("data") if isinstance(answer, dict) else None
    entries = listed if isinstance(listed, list) else []
    return tuple(_served(entry) for entry in entries if isinstance(entry, dict) and _id(entry))


def choose(models: Sequence[Served], name: str | None, *, where: str) -> Served:
    """The model with a name, or the only one. Raises `BadInputError` listing what there is."""
    if name is None:
        if len(models) == 1:
            return models[0]
        why = "no model" if not models else f"{len(models)} models ({shown(models)})"
        message = f"{where} offers {why}; say which one is measured with --served-model"
        raise BadInputError(message)
    found = next((model for model in models if model.id == name), None)
    if found is None:
        near = suggestion(name, [model.id for model in models])
        message = f"{where} does not offer {name!r}; it has {shown(models)}.{near}"
        raise BadInputError(message)
    return found


def shown(models: Sequence[Served]) -> str:
    """The names of the models, a few of them if there are many."""
    names = [model.id for model in models]
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return (", ".join(names[:_MOST_SHOWN]) or "none") + more


def offer(models: Sequence[Served]) -> str:
    """What to do where a server that has these models has no such page or model."""
    if not models:
        return "; correct the URL, or look which server listens there"
    return f"; it offers {shown(models)}: choose with --served-model, or correct the URL"


def _served(entry: Mapping[str, Json]) -> Served:
    meta = entry.get("meta")  # llama.cpp
    stated = meta if isinstance(meta, dict) else {}
    return Served(
        id=_id(entry) or "",
        root=_text(entry, "root"),
        owner=_text(entry, "owned_by"),
        # vLLM and SGLang; llama.cpp
        context_tokens=count(entry, "max_model_len") or count(stated, "n_ctx"),
        parameters=_some(stated, "n_params"),
        file_bytes=_some(stated, "size"),
        vocabulary_size=_some(stated, "n_vocab"),
        # LM Studio; llama.cpp
        quantisation=quantisation(_text(entry, "quantization") or _text(stated, "ftype") or ""),
    )


def quantisation(text: str) -> str | None:
    """A quantisation under its short name: `Q4_K_M` for llama.cpp's `Q4_K - Medium`."""
    match = _QUANTISATION.match(text)
    if match is None:
        return None
    return match["name"] + (f"_{match['size'][0]}" if match["size"] else "")


def _some(values: Mapping[str, Json], name: str) -> int | None:
    """A count that is large enough to be one of a model."""
    found = count(values, name)
    return found if found is not None and found >= _FEWEST else None


def _id(entry: Mapping[str, Json]) -> str | None:
    return _text(entry, "id")


def _text(values: Mapping[str, Json], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None


EngineName = Literal["vLLM", "SGLang", "llama.cpp", "LM Studio", "Ollama", "unknown server"]

UNKNOWN: Literal["unknown server"] = "unknown server"
# Web servers and frameworks, which say nothing about the engine behind them.
_FRAMEWORKS = frozenset(
    {
        "uvicorn", "hypercorn", "granian", "gunicorn", "werkzeug", "aiohttp", "python", "basehttp",
        "simplehttp", "wsgiserver", "tornadoserver", "nginx", "caddy", "envoy", "apache", "daphne",
    }
)  # fmt: skip
# Who owns the listed models is how an engine signs its list.
_OWNERS: dict[str, EngineName] = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llamacpp": "llama.cpp",
    "organization_owner": "LM Studio",
    "library": "Ollama",
}
# The page that states the version, and the field that has it.
_VERSIONS: dict[EngineName, tuple[tuple[str, str], ...]] = {
    "vLLM": (("/version", "version"),),
    "SGLang": (("/server_info", "version"), ("/get_server_info", "version")),
    "llama.cpp": (("/props", "build_info"),),
    "Ollama": (("/api/version", "version"),),
}
_BUILD = re.compile(r"b(?P<number>\d+)-(?P<commit>[0-9a-f]{7,40})")
_LONGEST = 120
_SHOWABLE = re.compile(r"[^\x00-\x1f<>]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An engine behind an address, and the models that it offers.

    `software` is there for an unknown engine that signs its answers.
    """

    name: EngineName
    models: tuple[Served, ...]
    version: str | None = None
    software: str | None = None

    @property
    def shown_name(self) -> str:
        """The engine's name; of an unknown one, what its answers are signed with."""
        return self.software if self.name == UNKNOWN and self.software else self.name

    @property
    def commit(self) -> str | None:
        """The commit in a llama.cpp build's name."""
        match = _BUILD.fullmatch(self.version or "")
        return match["commit"] if match else None

    @property
    def build_number(self) -> int | None:
        """The number in a llama.cpp build's name; a build from no checkout has number 1 or 0."""
        match = _BUILD.fullmatch(self.version or "")
        return int(match["number"]) if match and int(match["number"]) > 1 else None


def identify(client: Client) -> Identity:
    """Who answers. Raises `ServerSilentError` or `ServerRefusedError` without a list of models."""
    models = read_models(client.get(f"{client.address.api}/models"))
    name = _name(models)
    if name == "LM Studio":
        models = _lm_studio_models(client) or models
    software = _software(client) if name == UNKNOWN else None
    return Identity(name=name, models=models, version=_version(client, name), software=software)


def _name(models: tuple[Served, ...]) -> EngineName:
    owners = (model.owner for model in models)
    return next((_OWNERS[owner] for owner in owners if owner in _OWNERS), UNKNOWN)


def _software(client: Client) -> str | None:
    """The first word of the header `Server`, unless it names what many engines are built with."""
    stated = (client.software(f"{client.address.api}/models") or "").split("/")[0].split(" ")[0]
    framework = stated.lower() in _FRAMEWORKS
    return stated[:_LONGEST] if _SHOWABLE.fullmatch(stated) and not framework else None


def _lm_studio_models(client: Client) -> tuple[Served, ...]:
    """LM Studio's own list, which has the quantisation."""
    return read_models(dict(_page(client, "/api/v0/models")))


def _version(client: Client, name: EngineName) -> str | None:
    for page, key in _VERSIONS.get(name, ()):
        stated = _page(client, page)
        version = stated.get(key) if stated else None
        if isinstance(version, str) and _SHOWABLE.fullmatch(version):
            return version[:_LONGEST]
    return None


def _page(client: Client, path: str) -> Mapping[str, Json]:
    try:
        answer = client.get(f"{client.address.root}{path}")
    except (ServerSilentError, ServerRefusedError):
        return {}
    return answer if isinstance(answer, dict) else {}


_BACKENDS: dict[str, Backend] = {name: name for name in get_args(Backend)}
# How builds for one backend mark their version: `0.32.0+cpu`, `0.11.0+cu129`, `0.9.1+rocm631`.
_MARKS: tuple[tuple[str, Backend], ...] = (("cpu", "cpu"), ("cu", "cuda"), ("rocm", "rocm"))


def report_on(
    identity: Identity, served: Served, campaign: Campaign, backend: str | None
) -> EngineReport:
    """Engine and settings. An unknown backend is `other`, on a machine without a GPU `cpu`."""
    asked = campaign.settings
    return EngineReport(
        engine=Engine(
            runner="openai",
            name=identity.shown_name,
            version=identity.version or "unknown",  # a measured campaign must name one
            commit=identity.commit,
            build_number=identity.build_number,
            backend=_BACKENDS[backend] if backend else backend_of(identity, machine()),
        ),
        settings=Settings(
            sampling="greedy" if asked.temperature is None else "other",
            temperature=asked.temperature,
            sampling_seed=None if asked.temperature is None else asked.sampling_seed,
            max_output_tokens=asked.max_output_tokens,
            context_tokens=served.context_tokens,
        ),
    )


def backend_of(identity: Identity, described: Machine) -> Backend:
    """The backend in the mark of a version; without a GPU there is only the processor."""
    mark = (identity.version or "").partition("+")[2]
    unmarked: Backend = "other" if described.gpus else "cpu"
    return next((backend for start, backend in _MARKS if mark.startswith(start)), unmarked)


def check_backend(name: str | None) -> None:
    """Raise `BadInputError` for a backend that the format does not know."""
    if name is not None and name not in _BACKENDS:
        message = f"--backend {name!r} is none.{suggestion(name, _BACKENDS)}"
        raise BadInputError(message)
