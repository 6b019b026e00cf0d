"""The command line of a llama-server for one arm, with flags that the binary supports."""

from dataclasses import dataclass, field

from harness.campaign.model import ArmPlan, Campaign, RunSettings, layers_of
from harness.runners.base import FailedError, Failure
from harness.runners.devices import default_threads
from harness.runners.http import process
from harness.runners.llama_server.abilities import Abilities
from planner.engine_commands import parts, sizes, stages
from schemas.method import DRAFT_MODEL, Method
from schemas.vocabulary import DEFAULT_RUNNER, METHODS
from schemas.vocabulary.axes import AXES
from schemas.vocabulary.method_table import LlamaCpp


def arguments(
    arm: ArmPlan, campaign: Campaign, *, abilities: Abilities, port: int
) -> tuple[str, ...]:
    """Return the arguments after the program's name.

    Raises `FailedError` if the binary cannot run the arm, or if a `--server-arg` conflicts with an
    argument that the harness sets.
    """
    words = _Words(abilities)
    _common(words, arm, campaign, port=port)
    _speculation(words, arm.method, campaign)
    _axes(words, campaign.settings)
    return tuple(words.argv)


def _unknown(what: str) -> FailedError:
    detail = f"this llama-server does not support {what}; use another build or another --method"
    return FailedError(Failure(reason="other", detail=detail))


@dataclass(slots=True)
class _Words:
    """The arguments so far, and the binary's abilities."""

    abilities: Abilities
    argv: list[str] = field(default_factory=list)

    def need(self, value: object, *names: str) -> None:
        """Add a flag, followed by its value unless the value is `None`.

        `names` are the flag's names in different builds. Raises `FailedError` if the binary
        supports none of them.
        """
        if not self.offer(value, *names):
            raise _unknown(names[0])

    def offer(self, value: object, *names: str) -> bool:
        """If the binary supports a flag, add it, with any value; return whether it does."""
        name = self.abilities.first(*names)
        if name is not None:
            self.argv += [name] if value is None else [name, str(value)]
        return name is not None


def _common(words: _Words, arm: ArmPlan, campaign: Campaign, *, port: int) -> None:
    settings = campaign.settings
    threads = settings.threads or default_threads()
    words.argv += ["-m", str(campaign.target.on_disk), "--host", process.HOST, "--port", str(port)]
    slots = arm.concurrency
    words.argv += ["-c", str(slots * settings.context_tokens), "-np", str(slots)]
    words.argv += ["-t", str(threads), "-tb", str(threads)]
    words.argv += ["-b", str(settings.batch_tokens), "-ub", str(settings.batch_tokens)]
    words.argv += ["-ngl", _layers(layers_of(arm, settings))]
    _default_axes(words, settings)
    if "--fit" in words.abilities.takes_value:  # without a value, the flag turns fitting on
        words.offer("off", "--fit")
    words.offer(0, "--cache-ram")
    words.offer(None, "--no-webui", "--no-ui")
    words.offer(None, "--metrics")
    if words.abilities.stages:  # ik_llama.cpp needs this flag to render a model's template
        words.offer(None, "--jinja")
    if words.abilities.hides_layers:
        words.argv += ["-lv", "4"]


def _default_axes(words: _Words, settings: RunSettings) -> None:
    """Add the flags of all axes that have a default, so that a build's own defaults have no effect.

    Raises `FailedError` if the build cannot set an axis whose value is not the default.
    """
    for axis in AXES.values():
        if not axis.server or axis.default is None:
            continue
        value = axis.value(settings)
        names = [name for name in axis.server if name in words.abilities.takes_value]
        if names:
            words.argv += [names[0], str(value)]
        elif value != axis.default:
            without_value = words.abilities.first(*axis.server)
            raise _unknown(f"{without_value} with a value" if without_value else axis.server[-1])


def _axes(words: _Words, settings: RunSettings) -> None:
    """Add the flags of the axes that have no default but are set, and the user's own arguments.

    Raises `FailedError`.
    """
    for axis in AXES.values():
        value = axis.value(settings)
        if not axis.server or axis.default is not None or value is None:
            continue
        if axis.is_all(value):
            words.need(None, *axis.server_all)
        else:
            words.need(value, *axis.server)
    for argument in settings.server_arguments or ():
        name, _, value = argument.partition(" ")
        if words.abilities.names_of(name) & {*words.argv}:
            detail = (
                f"--server-arg {name}: the harness sets this argument; use the corresponding "
                "option of run"
            )
            raise FailedError(Failure(reason="other", detail=detail))
        words.need(value or None, name)


def _speculation(words: _Words, method: Method, campaign: Campaign) -> None:
    if method.type == "none":
        words.argv += ["--spec-type", "none"] if words.abilities.spec_types else []
        return
    if method.type == "other" and not method.chain:
        raise _unknown(f"method {method.name}")
    if method.nodes:
        raise _unknown("draft trees; leave out nodes")
    _force(words, method)
    if method.draft:
        _with_draft(words, method.draft, campaign)
    elif any(METHODS[kind].draft != "none" for kind in method.chain or ()):
        for draft in campaign.drafts[:1]:
            _with_draft(words, draft.model.id, campaign)
    if words.abilities.stages:
        _stages(words, method)
    else:
        _type(words, *method.types)
        _sizes(words, method)


def _sizes(words: _Words, method: Method) -> None:
    for part in parts(method):
        for size, spellings, value in sizes(part):
            # Some types have no flag for hits: their number of hits is always one.
            add = words.offer if (size, value) == ("min_hits", "1") else words.need
            add(value, *spellings)


def _force(words: _Words, method: Method) -> None:
    """Set the tokens per round that a method forces, if any; forcing needs a draft model."""
    if method.length is None:
        return
    if method.draft is None:
        raise _unknown("forced acceptance without a draft; name a draft with --draft")
    words.need(f"{method.length:g}", *_flags(method.type).forced)


def _with_draft(words: _Words, draft: str, campaign: Campaign) -> None:
    path = next(item.on_disk for item in campaign.drafts if item.model.id == draft)
    words.need(path, "-md", "--model-draft", "--spec-draft-model")
    words.need(_layers(campaign.settings.draft_gpu_layers), "-ngld", "--spec-draft-ngl")


def _type(words: _Words, *kinds: str) -> None:
    """Add `--spec-type`; builds without it support only draft models, which need no such flag."""
    offered = words.abilities.spec_types
    known = [next((n for n in _flags(kind).types if n in offered), None) for kind in kinds]
    named = [name for name in known if name is not None]
    if len(named) == len(kinds):
        if len(kinds) > 1 and not words.abilities.chains:
            raise _unknown(f"several methods at once ({'+'.join(kinds)})")
        words.argv += ["--spec-type", ",".join(named)]
    elif kinds != (DRAFT_MODEL,):
        it = f"offers {', '.join(offered)}" if offered else "supports draft models only"
        raise _unknown(f"method {'+'.join(kinds)} (it {it})")


def _stages(words: _Words, method: Method) -> None:
    """Add a method's stages in ik_llama.cpp's syntax. Raises `FailedError`."""
    found, offered = stages(method), words.abilities.spec_types
    if found is None or any(word.partition(":")[0] not in offered for word in found[1::2]):
        raise _unknown(f"method {'+'.join(method.types)} (it offers {', '.join(offered)})")
    words.argv += found


def _flags(kind: str) -> LlamaCpp:
    """Return llama.cpp's flags for a method and its parameters."""
    entry = METHODS[kind]
    if entry.llama_cpp is None:
        ours = (
            ", which only the in-process runner supports" if DEFAULT_RUNNER in entry.runners else ""
        )
        raise _unknown(f"method {kind}{ours}")
    return entry.llama_cpp


def _layers(count: int) -> str:
    """Return a number of GPU layers as an argument; all layers are 999, which any build accepts."""
    return "999" if count < 0 else str(count)
