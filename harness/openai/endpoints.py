"""Read the servers that the options name: URLs on this machine, or commands that start servers.

A result file describes the machine that the harness runs on. Figures from a server on another
machine would be attributed to the wrong hardware, so a remote address is refused.
"""

import ipaddress
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from estimates.arguments import pairs
from harness.campaign.hidden_arguments import settings, without_keys
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError, MachineError
from harness.machine.command_line import join_command
from harness.runners.http.client import ServerAddress
from harness.runners.http.session import KEY_VARIABLE
from harness.runners.options import ConnectionOptions
from harness.runners.server_command import command_words
from schemas.submission import Method
from schemas.vocabulary import METHODS
from schemas.vocabulary.engine_choices import CHOICES, measured_as

_HOST = re.compile(r"(localhost|\d+\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/.*)?$")
_USABLE = re.compile(r"[\x21-\x7e]+")
_PORTS = {"http": 80, "https": 443}
# Settings that make vLLM vary the number of drafted tokens from step to step.
_VARY_DEPTH = (
    "num_speculative_tokens_per_batch_size",
    "enable_adaptive_verification",
    "adaptive_verification",
)
# The last part of the path to a server's OpenAI routes; LM Studio's older routes are under v0.
_VERSIONS = ("/v1", "/v0")
_BEYOND = re.compile(r"(/v\d)((?:/chat)?/completions|/models)/?$")

# The words of a command that starts a server, with a placeholder for the port.
Command = tuple[str, ...]
Endpoint = ServerAddress | Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The endpoint of the baseline's server, and the methods' endpoints in order."""

    base: Endpoint
    spec: tuple[Endpoint, ...]
    option: str
    plain_alone: bool = False


def endpoints(options: ConnectionOptions) -> Endpoints:
    """Return the servers that the options name, for the baseline and for the methods.

    Raises `BadInputError` for missing or contradictory options.
    """
    urls = [text for text in (options.base_url, *options.spec_base_urls) if text]
    commands = [text for text in (options.server_command, *options.spec_server_commands) if text]
    if urls and commands:
        raise BadInputError(
            "give either running servers (--base-url) or commands that start servers, not both"
        )
    if options.spec_models and (options.base_url is None or options.spec_base_urls):
        raise BadInputError(
            "--spec-served-model names models of the server at --base-url; leave out all "
            "other servers"
        )
    if options.base_url is not None:
        base = parse(options.base_url, option="--base-url")
        spec = tuple(parse(url, option="--spec-base-url") for url in options.spec_base_urls)
        option = "--spec-served-model" if options.spec_models else "--spec-base-url"
        return Endpoints(base=base, spec=spec or (base,) * len(options.spec_models), option=option)
    if options.server_command is not None:
        option = "--spec-server-command"
        return Endpoints(
            base=command_words(options.server_command, option="--server-command"),
            spec=tuple(command_words(text, option=option) for text in options.spec_server_commands),
            option=option,
            plain_alone=options.plain_alone,
        )
    raise BadInputError(
        "this runner needs a server without speculation (--base-url URL or --server-command "
        '"… --port {port}") and, for each --method, a server with speculation (--spec-base-url URL '
        "or --spec-server-command)"
    )


def check(found: Endpoints, campaign: Campaign) -> None:
    """Raise `BadInputError` unless the servers match the arms of a campaign."""
    methods = speculation(campaign)
    if not methods and not found.plain_alone:
        raise BadInputError(
            "use --method to state how the server with speculation drafts, such as "
            "--method draft-model:n_max=5 --draft NAME or --method prompt-lookup:n_max=5"
        )
    if len(methods) != len(found.spec):
        raise BadInputError(
            f"{len(methods)} methods, but {len(found.spec)} {found.option}: a server's "
            f"speculation is fixed at its start, so give one {found.option} for each --method, "
            "in the same order"
        )
    if not isinstance(found.base, ServerAddress) and found.base in found.spec:
        raise BadInputError(
            f"{found.option} repeats the baseline's command; give a command that turns "
            "speculation on"
        )
    for arm in campaign.arms:
        if not arm.drafts and arm.method.type != "none":
            raise BadInputError(f"a server cannot run the arm {arm.id}; leave out its --method")
        check_told(endpoint_of(arm, found, campaign), arm.method)


def check_told(endpoint: Endpoint, method: Method) -> None:
    """Raise `BadInputError` if a command drafts in a way that `--method` does not measure.

    Methods with the same vLLM name, such as `draft-model` and `pard`, differ in other settings.
    A depth that varies requires a `controller`.
    """
    told = {} if isinstance(endpoint, ServerAddress) else settings(endpoint)
    if not isinstance(endpoint, ServerAddress) and (reason := _unmeasured(endpoint, method)):
        raise BadInputError(f"--method {method.type}: {reason}")
    configs = {name: method.vllm.config for name, method in METHODS.items() if method.vllm}
    for name, config in configs.items():
        has = told.items() >= config.items()
        if config and has and name != method.type and not METHODS[method.type].lossy:
            message = (
                f"the server's command sets {_written(config)}, which corresponds to --method "
                f"{name}"
            )
            break
        if name == method.type and told and not has:
            message = f"the server's command does not set {_written(config)}"
            break
    else:
        varied = next((key for key in _VARY_DEPTH if told.get(key)), None)
        if varied is None or method.controller:
            return
        message = f"{varied} varies the depth; add controller=NAME to this method"
    raise BadInputError(f"--method {method.type}: {message}")


def _unmeasured(command: Command, method: Method) -> str | None:
    """Why a method does not measure what a command's server drafts; `None` if it may."""
    given = dict(pairs(command))
    if reason := _other_tree(given, method):
        return reason
    for each in CHOICES.values():
        choice = given.get(f".{each.option}") or given.get(each.option.lstrip("-")) or ""
        if choice in each.refused:
            return f"{each.id}'s {choice} has no method: {each.refused[choice]}"
        measured = measured_as(each.id, choice)
        other = METHODS[method.type].lossy or METHODS[method.type].instrument
        if each.id != "ik_llama.cpp" and measured and method.type not in measured and not other:
            return f"the server's command drafts with {choice}; use --method {min(measured)}"
    return None


def _other_tree(given: Mapping[str, str], method: Method) -> str | None:
    """Why a command drafts another tree, or a chain; `None` if it may draft as stated."""
    chain = given.get("speculative-eagle-topk", "1") == "1" and given.get("draft-kind") != "ddtree"
    if chain == bool(method.nodes):
        return (
            "a tree is measured with its number of drafted tokens, as in eagle3:n_max=5,nodes=15 "
            "for five levels; a chain has no nodes"
        )
    verified = given.get("speculative-num-draft-tokens")
    if method.nodes and verified and verified != str(method.nodes + 1):
        return f"the server verifies {verified} tokens in a round, not {method.nodes} and one more"
    return None


def _written(config: Mapping[str, object]) -> str:
    return json.dumps(dict(config)).strip("{}")


def command_lines(found: Endpoints, campaign: Campaign) -> tuple[str, ...]:
    """Return the commands that start a campaign's servers; none for servers already running.

    There is one command per arm. Raises `MachineError` for a program that is not installed.
    """
    check(found, campaign)
    all_of_them = (endpoint_of(arm, found, campaign) for arm in campaign.arms)
    commands = [each for each in all_of_them if not isinstance(each, ServerAddress)]
    for program in (words[0] for words in commands if shutil.which(words[0]) is None):
        raise MachineError(
            f"there is no program {program}; correct the command, or give the full path"
        )
    return tuple(without_keys(join_command(each), each) for each in commands)


def endpoint_of(arm: ArmPlan, found: Endpoints, campaign: Campaign) -> Endpoint:
    if not arm.drafts:
        return found.base
    return found.spec[speculation(campaign).index(arm.method)]


def speculation(campaign: Campaign) -> list[Method]:
    """Return a campaign's methods in order, each once even if several arms use it."""
    methods = (arm.method for arm in campaign.arms if arm.drafts)
    return list(dict.fromkeys(methods))


def api_key(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the API key, if set. Raises `BadInputError` if the key cannot be sent in a header.

    Only Draftmap's variable is read: a key in `OPENAI_API_KEY` belongs to a service and must not be
    sent to an unknown program on this machine.
    """
    found = os.environ if environment is None else environment
    key = found.get(KEY_VARIABLE, "").strip()
    if not key:
        return None
    if not _USABLE.fullmatch(key):
        raise BadInputError(
            f"{KEY_VARIABLE} is not a key: it contains spaces, line breaks or other invalid "
            "characters"
        )
    return key


def parse(text: str, *, option: str) -> ServerAddress:
    """Parse the address in a URL. Raises `BadInputError` with the reason if the URL is invalid."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise BadInputError(
            f"{option} is not a URL ({error}); write http://127.0.0.1:8000"
        ) from error
    why = _unusable(parts)
    if parts.scheme not in _PORTS and _HOST.match(text):
        why = f"write http://{text}"
    if why is not None:
        raise BadInputError(f"{option}: {why}")
    path = parts.path.rstrip("/")
    versioned = path.endswith(_VERSIONS)
    return ServerAddress(
        host=parts.hostname or "",
        port=port or _PORTS[parts.scheme],
        secure=parts.scheme == "https",
        root=path.rpartition("/")[0] if versioned else path,
        api=path if versioned else f"{path}/v1",
    )


def _unusable(parts: SplitResult) -> str | None:
    """Return why a URL is unusable.

    The part before an @ is never printed, as it may be a password.
    """
    if parts.scheme not in _PORTS or not parts.hostname:
        return "this is not an http or https URL; write http://127.0.0.1:8000"
    if parts.username is not None or parts.password is not None:
        return f"a URL must not contain a password; put the server's key into {KEY_VARIABLE}"
    if beyond := _BEYOND.search(parts.path):
        return f"the URL ends with {beyond[1]}; leave out {beyond[2]}"
    if parts.query or parts.fragment:
        return "the URL must end with the path; leave out everything after ? or #"
    if not _is_loopback(parts.hostname):
        return (
            f"{parts.hostname} may be another machine, but the result file describes this "
            "machine; run the harness on the server's machine and give 127.0.0.1"
        )
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
