"""The runners by name. Nothing here loads an engine: a runner is imported when it is used.

`runners.toml` says what each can do. The module of its name in this package has `build`, and those
of the other functions in `RunnerKind` that its engine needs. No module of a runner imports this.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from harness.campaign.methods import MethodRequest, parse
from harness.campaign.model import Campaign, Interleaved
from harness.models.model_file import ServedModels
from harness.runners.base import Runner
from harness.runners.options import ConnectionOptions
from schemas import vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerKind:
    """What a runner can do. `methods` are types of the format that it can measure.

    `interleaved` says when its arms take turns, `concurrent` whether it answers several requests
    at once, `behind_servers` whether its models may be on no disk of ours. `limits_drafts` says
    whether a draft can have a least length and probability, `forces` whether the baseline's text
    can be fed to the model.

    `build` raises `BadInputError` when the options do not say how to connect to the engine, `check`
    when the engine does not fit the campaign. `identify` names the engine so that two can be
    distinguished. `preview` gives the command lines that would be started, one for each arm; it
    raises `BadInputError` for an arm that the engine cannot run. `served` knows the models that
    are on no disk of ours.
    """

    summary: str
    interleaved: Interleaved
    concurrent: bool
    behind_servers: bool
    limits_drafts: bool
    forces: bool
    methods: frozenset[str]
    default_methods: tuple[MethodRequest, ...]
    build: Callable[[ConnectionOptions], Runner]
    check: Callable[[ConnectionOptions, Campaign], None]
    identify: Callable[[ConnectionOptions], str | None]
    preview: Callable[[ConnectionOptions, Campaign], tuple[str, ...]]
    served: Callable[[ConnectionOptions, Callable[[str], None]], ServedModels | None]


# The module of a runner has its name; this one is named for where the engine runs.
_MODULES = {"llama-cpp-python": "inprocess"}


def _kind(entry: vocabulary.RunnerEntry) -> RunnerKind:
    """The runner with what `runners.toml` and `methods.toml` say of it."""
    known = vocabulary.METHODS.values()
    module = _MODULES.get(entry.id, entry.id.replace("-", "_"))
    return RunnerKind(
        summary=entry.summary,
        interleaved=entry.interleaved,
        concurrent=entry.concurrent,
        behind_servers=entry.behind_servers,
        limits_drafts=entry.limits_drafts,
        forces=entry.forces,
        methods=frozenset(method.id for method in known if entry.id in method.runners),
        default_methods=tuple(map(parse, entry.default_methods)),
        build=_function(module, "build"),
        check=_function(module, "check"),
        identify=_function(module, "identify"),
        preview=_function(module, "preview", ()),
        served=_function(module, "served"),
    )


def _function(module: str, name: str, otherwise: object = None) -> Callable[..., Any]:
    """A function of a runner's module, which is imported on the first call.

    `otherwise` is the answer where the module has no such function.
    """

    def call(*arguments: object) -> object:
        function = getattr(import_module(f"{__name__}.{module}"), name, None)
        return otherwise if function is None else function(*arguments)

    return call


RUNNERS = {name: _kind(entry) for name, entry in vocabulary.RUNNERS.items()}
OFFERED = {name: kind for name, kind in RUNNERS.items() if vocabulary.RUNNERS[name].offered}
