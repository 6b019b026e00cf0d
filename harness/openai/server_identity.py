"""Identify a server's engine from its list of models, and from pages that only one engine has."""

import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from harness.errors import BadInputError
from harness.machine.lenient_json import part
from harness.openai.listed_models import NO_PAGE, Served, listed, read_models
from harness.runners.http.client import Client, ServerError, ServerRefusedError
from schemas import public_text
from schemas.codec import Json
from schemas.rig import Backend

EngineName = Literal[
    "vLLM", "SGLang", "llama.cpp", "LM Studio", "Ollama", "mlx-lm", "mlx-vlm", "unknown server"
]

UNKNOWN: Literal["unknown server"] = "unknown server"
# The engine that a word in a server's command starts.
_PROGRAMS: dict[str, EngineName] = {"vllm": "vLLM", "sglang": "SGLang", "ollama": "Ollama"}
# The engine for each `owned_by` value in a list of models.
_OWNERS: dict[str, EngineName] = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llamacpp": "llama.cpp",
    "organization_owner": "LM Studio",
    "library": "Ollama",
}
# The page with an engine's version, and the field with the version in it.
_VERSIONS: dict[EngineName, tuple[tuple[str, str], ...]] = {
    "vLLM": (("/version", "version"),),
    "SGLang": (("/server_info", "version"),),
    "llama.cpp": (("/props", "build_info"),),
    "Ollama": (("/api/version", "version"),),
}
# `mlx_lm.server` has the signature of Python's HTTP server; its answers have a fingerprint of two
# versions, the platform and the device's architecture.
_PYTHON = "BaseHTTP"
_MLX_LM = re.compile(
    r"(?P<version>\d+\.[^-]+)-\d+\.[^-]+-(?:macOS|Darwin|Linux|Windows)-.*-(?P<device>[^-]+)"
)
_MLX_DEVICES: dict[str, Backend] = {
    "applegpu": "metal", "sm_": "cuda", "x86_64": "cpu", "aarch64": "cpu",
}  # fmt: skip
_BUILD = re.compile(r"b(?P<number>\d+)-(?P<commit>[0-9a-f]{7,40})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerIdentity:
    """The engine at an address, and the models that the engine offers.

    `version` is as the server reports it, and shown only if it looks like a version. `software` is
    set for an unknown engine whose answers have a known signature; `backend` is set if the answers
    contain it.
    """

    name: EngineName
    models: tuple[Served, ...]
    version: str | None = None
    software: str | None = None
    backend: Backend | None = None

    @property
    def shown_name(self) -> str:
        """The engine's name; for an unknown engine, the product in its `Server` header, if any."""
        return self.software if self.name == UNKNOWN and self.software else self.name

    @property
    def shown_version(self) -> str:
        """The reported version; `unknown` if it does not look like one, as it may contain a key."""
        return public_text.version(self.version or "") or "unknown"

    @property
    def build(self) -> tuple[int | None, str | None]:
        """The number and commit of a llama.cpp version such as `b1234-abc1234`; else `None`s.

        The numbers 0 and 1 also give `None`: builds outside a checkout have them.
        """
        match = _BUILD.fullmatch(self.version or "")
        if match is None:
            return None, None
        number = int(match["number"])
        return number if number > 1 else None, match["commit"]


def identify(client: Client, model: str | None = None) -> ServerIdentity:
    """Identify the engine that answers; requests name `model` if given.

    Raises `ServerSilentError` or `ServerRefusedError` if the server's answer is missing or
    unusable, `BadInputError` if the server has no OpenAI API.
    """
    models = listed(client)
    owners = (model.owner for model in models)
    name = next((_OWNERS[owner] for owner in owners if owner in _OWNERS), UNKNOWN)
    if name == "LM Studio":
        # The engine's own list of models includes the quantisation.
        models = read_models(dict(_page(client, "/api/v0/models"))) or models
    if name == UNKNOWN:
        return _by_signature(client, models, model)
    stated = (_page(client, page).get(key) for page, key in _VERSIONS.get(name, ()))
    version = next((each for each in stated if isinstance(each, str)), None)
    return ServerIdentity(name=name, models=models, version=version)


def started_by(command: str) -> ServerIdentity:
    """Return the engine that a command starts, judged by its words."""
    name = next((engine for word, engine in _PROGRAMS.items() if word in command), UNKNOWN)
    return ServerIdentity(name=name, models=())


def _by_signature(client: Client, models: tuple[Served, ...], model: str | None) -> ServerIdentity:
    """Identify an engine by the `Server` header of its answers, or by their fingerprint."""
    stated = ""
    with suppress(ServerRefusedError):
        stated = client.software(f"{client.address.api}/models") or ""
    software, _, version = stated.partition(" ")[0].partition("/")
    match = _MLX_LM.fullmatch(_fingerprint(client, model)) if software == _PYTHON else None
    backend: Backend | None = None
    if match is not None:
        backend = next((b for sign, b in _MLX_DEVICES.items() if sign in match["device"]), None)
        version = match["version"]
        return ServerIdentity(name="mlx-lm", models=models, version=version, backend=backend)
    if software == "mlx_vlm":
        backend = "metal" if sys.platform == "darwin" else None
        return ServerIdentity(name="mlx-vlm", models=models, version=version, backend=backend)
    if not models and not match and not _answers(client, model):
        raise BadInputError(
            f"{client.address} is not an OpenAI API: it has neither a model list nor a chat "
            "endpoint"
        )
    if software.lower() not in public_text.SERVERS:
        return ServerIdentity(name=UNKNOWN, models=models)
    return ServerIdentity(name=UNKNOWN, models=models, version=version or None, software=software)


def _answers(client: Client, model: str | None) -> bool:
    """Whether the server has a chat completions endpoint, even if that answers with an error."""
    try:
        client.post(
            f"{client.address.api}/chat/completions", {"model": model or "", "messages": []}
        )
    except ServerError as error:
        return not (isinstance(error, ServerRefusedError) and error.status in NO_PAGE)
    return True


def _fingerprint(client: Client, model: str | None) -> str:
    """Request a one-token answer and return its `system_fingerprint`."""
    body: dict[str, Json] = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    asked = {**body, "model": model} if model else body
    answer: Json = None
    with suppress(ServerError):
        answer = client.post(f"{client.address.api}/chat/completions", asked)
    return str(part(answer).get("system_fingerprint"))


def _page(client: Client, path: str) -> Mapping[str, Json]:
    with suppress(ServerError):
        return part(client.get(f"{client.address.root}{path}"))
    return {}
