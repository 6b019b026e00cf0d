"""Identify the engine behind a server by its list of models and by pages that only it has."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from harness.machine import forms
from harness.runners.http.client import Client, ServerRefusedError, ServerSilentError
from harness.runners.openai.models import Served, read_models
from schemas.codec import Json

EngineName = Literal["vLLM", "SGLang", "llama.cpp", "LM Studio", "Ollama", "unknown server"]

UNKNOWN: Literal["unknown server"] = "unknown server"
# The engine of each owner in a list of models.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerIdentity:
    """An engine behind an address, and the models that it offers.

    `version` is as the server states it, which is shown if it has the form of one. `software` is
    there for an unknown engine that signs its answers with a known name.
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
    def shown_version(self) -> str:
        """The version, `unknown` if it has another form: it may hold a key or name a host."""
        return forms.version(self.version or "") or "unknown"

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


def identify(client: Client) -> ServerIdentity:
    """The engine that answers.

    Raises `ServerSilentError` or `ServerRefusedError` where there is no list of models.
    """
    models = read_models(client.get(f"{client.address.api}/models"))
    owners = (model.owner for model in models)
    name = next((_OWNERS[owner] for owner in owners if owner in _OWNERS), UNKNOWN)
    if name == "LM Studio":
        # Its own list states the quantisation, too.
        models = read_models(dict(_page(client, "/api/v0/models"))) or models
    software = _software(client) if name == UNKNOWN else None
    return ServerIdentity(
        name=name, models=models, version=_version(client, name), software=software
    )


def _software(client: Client) -> str | None:
    """The first word of the header `Server`, if it is the name of a known engine."""
    stated = (client.software(f"{client.address.api}/models") or "").split("/")[0].split(" ")[0]
    return stated if stated.lower() in forms.SERVERS else None


def _version(client: Client, name: EngineName) -> str | None:
    for page, key in _VERSIONS.get(name, ()):
        stated = _page(client, page)
        version = stated.get(key) if stated else None
        if isinstance(version, str):
            return version
    return None


def _page(client: Client, path: str) -> Mapping[str, Json]:
    try:
        answer = client.get(f"{client.address.root}{path}")
    except (ServerSilentError, ServerRefusedError):
        return {}
    return answer if isinstance(answer, dict) else {}
