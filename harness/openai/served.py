"""Describe a model on a server, from its name and from what the server reports about it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness import files
from harness.errors import BadInputError, MachineError
from harness.models.describe import describe, family_of
from harness.models.folder import cached_folder, describe_folder, is_model_folder
from harness.models.model_file import ModelFile, WeightsFile
from harness.openai.comparable import require_comparable
from harness.openai.connection import Connection, connect
from harness.openai.endpoints import api_key, endpoints, parse
from harness.openai.listed_models import Served
from harness.openai.reported_device import computed_on
from harness.openai.server_identity import started_by
from harness.runners.base import FailedError
from harness.runners.http.client import ServerAddress
from harness.runners.options import ConnectionOptions
from schemas.codec import slug
from schemas.model_sizes import parameters_of, size_in
from schemas.submission import Engine, Model

UNKNOWN = "unknown"
_ASK_LIMIT_S = 30.0
_LONGEST, _TWICE = 120, 2
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
# `name:quantisation`; any other suffix belongs to the name, as in Ollama's `llama3.2:3b`.
_TAIL = re.compile(
    r"(?P<name>.+):(?P<quantisation>(?:UD-)?(?:I?Q\d\w*|B?F16|F32|FP(?:4|8|16)\w*|INT[48]\w*|AWQ"
    r"|GPTQ\w*|MXFP4\w*|NVFP4|TQ\d_\d|W\d+A\d+))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NamedModels:
    """Describes models by name; `target` and `draft` return `None` for the name of a local file."""

    options: ConnectionOptions
    say: Callable[[str], None]

    def target(self, name: str | None) -> ModelFile | None:
        """Return the target by name, or the model that the baseline's server offers.

        Raises `BadInputError` if neither user nor server names the target or the card,
        `MachineError` if a running server does not answer.
        """
        server = self._server(needed=name is None)
        if server is not None:
            self._require_comparable(server)
            computed_on(server.identity, self.options, server.client.address)
        served = server.served if server else None
        if name is not None and files.expanded(name).is_file():
            file = describe(WeightsFile(path=files.expanded(name)), say=self.say)
            if served is not None and size_in(file.model.name):
                self._checked(file.model.name, served)
            return None
        if served is not None and name is None and not _named(None, served):
            raise BadInputError(
                "the server does not report which model it serves; name the model with --target"
            )
        if served is not None and name is None and Path(served.id).is_file():
            return describe(WeightsFile(path=Path(served.id)), say=self.say)
        return ModelFile(path=None, model=self.named(name, served))

    def named(self, name: str | None, served: Served | None) -> Model:
        """Return the measured model, from the given name and the facts that the server reports.

        Raises `BadInputError` if name and facts contradict each other.
        """
        if name is not None and served is not None:
            name = self._checked(name, served)
        return model_of(_named(name, served), served)

    def draft(self, name: str) -> ModelFile | None:
        """Return a draft by name, since servers do not list their drafts."""
        if files.expanded(name).is_file():
            return None
        return ModelFile(path=None, model=model_of(name, None))

    def seen(self) -> Engine | None:
        """Return the baseline's engine and its card; `None` if only the started server shows them.

        Raises `BadInputError` with a question if a running server does not show its card.
        """
        server, endpoint = self._server(needed=False), endpoints(self.options).base
        identity = server.identity if server else started_by(self.options.server_command or "")
        try:
            backend, devices = computed_on(identity, self.options, endpoint)
        except BadInputError:
            if server:
                raise
            return None  # its version or its log may show the card
        return Engine(runner="openai", name=identity.name, backend=backend, devices=devices)

    def _checked(self, name: str, served: Served) -> str | None:
        """Return the name, or `None` for a meaningless alias if the server reports a real name.

        Raises `BadInputError` if the server reports a different model.
        """
        stated = [each for each in (served.root, served.id) if each and size_in(each)]
        if name in (served.id, served.root) or name.startswith(f"{served.id}:"):
            return name
        if size_in(name) is None and stated:
            source = model_of(_named(None, served), None).name
            self.say(f"{name} is not a model's name: the server reports that it serves {source}.")
            return None
        counted, size = served.parameters, parameters_of(size_in(name))
        other = next((each for each in stated if _other_model(name, each)), None)
        if other is None and counted and size and not 1 / _TWICE < counted / size < _TWICE:
            other = f"a model of {counted / 1e9:.2g} billion parameters"
        if other is not None:
            raise BadInputError(
                f"the server serves {other}, not {name}; leave out --target, or correct its value"
            )
        if served.id and not stated and counted is None:
            self.say(f"Nothing that the server reports confirms that {served.id} is {name}.")
        return name

    def _require_comparable(self, base: Connection) -> None:
        """Check the running servers of all other arms before measuring.

        Raises `HarnessError` if a server does not answer, or is not comparable with the baseline's.
        """
        for url in self.options.spec_base_urls:
            address = parse(url, option="--spec-base-url")
            try:
                require_comparable(self._connected(address), base, draft=None)
            except FailedError as error:
                raise MachineError(f"the server with speculation: {error}") from error

    def _server(self, *, needed: bool) -> Connection | None:
        endpoint = endpoints(self.options).base
        if not isinstance(endpoint, ServerAddress):
            if needed and self.options.model is None:
                raise BadInputError(
                    "a server that is started later cannot report its model yet; name the model "
                    "with --target"
                )
            return None
        try:
            return self._connected(endpoint)
        except FailedError as error:
            raise MachineError(f"the baseline's server: {error}") from error

    def _connected(self, address: ServerAddress) -> Connection:
        limit_s = min(_ASK_LIMIT_S, self.options.answer_limit_s)
        return connect(address, replace(self.options, answer_limit_s=limit_s), key=api_key())


def _other_model(name: str, stated: str) -> bool:
    """Whether two names differ in family or size; families match if one name contains the other."""
    ours, theirs = (model_of(each, None) for each in (name, stated))
    families = [
        re.sub(r"[^a-z0-9]", "", (each.family or each.name).lower()) for each in (ours, theirs)
    ]
    sizes = [parameters_of(size_in(each.name)) for each in (ours, theirs)]
    alike = families[0] in families[1] or families[1] in families[0]
    return not alike or (None not in sizes and sizes[0] != sizes[1])


def model_of(name: str, served: Served | None) -> Model:
    """Describe a model named in any form (name, hub name, folder), with or without `:quantisation`.

    The model's files on this disk, in that folder or in the hub's cache, are the best source.
    """
    match = _TAIL.fullmatch(name)
    bare, quantisation = (match["name"], match["quantisation"]) if match else (name, None)
    of_hub = _HUB_NAME.fullmatch(bare) is not None
    folder: Path | None = files.expanded(bare)
    if not is_model_folder(files.expanded(bare)):
        folder = cached_folder(bare) if of_hub else None
    if folder is not None:
        return describe_folder(folder, quantisation=quantisation)
    quantisation = quantisation or (served.quantisation if served else None) or UNKNOWN
    # Only the last part of a path or a hub name: the parts before it may name a person.
    last = re.split(r"[/\\]", bare.rstrip("/\\"))[-1].removesuffix(".gguf")
    clean = re.sub(r"[\x00-\x1f<>]", "", last).strip()[:_LONGEST] or "unnamed"
    return Model(
        id=f"{slug(clean)}-{slug(quantisation)}",
        name=clean,
        family=family_of(clean.replace(":", "-")),
        quantisation=quantisation,
        repository=bare if of_hub and not Path(bare).exists() else None,
        parameters=served.parameters if served else None,
        active_parameters=parameters_of(size_in(clean, active=True)),
        file_bytes=served.file_bytes if served else None,
        vocabulary_size=served.vocabulary_size if served else None,
    )


def _named(name: str | None, served: Served | None) -> str:
    """Return the name; the server's source of the weights replaces a missing name or an alias."""
    if served is None:
        return name or ""
    source = served.root or served.id
    if name is None or name == served.id:
        return source
    rest = name.removeprefix(f"{served.id}:")
    return name if rest == name else f"{source}:{rest}"
