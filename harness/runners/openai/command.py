"""What is the command line of a server? Words with a port put in, and what of them may be shown."""

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError, UsageError
from harness.runners.openai.address import Address, parse
from harness.runners.options import ConnectionOptions
from schemas.codec import Json
from schemas.submission import Method, NoSpeculation

PORT = "{port}"
_SECRET = re.compile(r"key|token|secret|password", re.IGNORECASE)
# Flags about tokens of text, which are no secrets.
_COUNTS = re.compile(r"tokens|tokenizer|num-token|n-token|token-ids", re.IGNORECASE)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_HIDDEN = "…"
_LONGEST = 200
_MOST = 128


def words(command: str, *, option: str) -> tuple[str, ...]:
    """The words of a command line. Raises `BadInputError` when it has no place for a port."""
    try:
        found = tuple(shlex.split(command, posix=os.name != "nt"))
    except ValueError as error:
        message = f"{option}: {error}; quote it as for a shell"
        raise BadInputError(message) from error
    if not any(PORT in word for word in found):
        message = f"{option} needs a place for the port: write {PORT}, as in --port {PORT}"
        raise BadInputError(message)
    return found


def with_port(command: Sequence[str], port: int) -> tuple[str, ...]:
    """The words as they are run."""
    return tuple(word.replace(PORT, str(port)) for word in command)


def shown(command: Sequence[str]) -> tuple[str, ...]:
    """The words after the program, fit to be published: no places on a disk and no secrets."""
    visible: list[str] = []
    previous = ""
    for word in command[1:]:
        flag, equals, value = word.partition("=")
        if equals and flag.startswith("-"):
            visible.append(f"{flag}={_HIDDEN if _is_secret(flag) else _shown(value)}")
            previous = ""
        else:
            visible.append(_HIDDEN if _is_secret(previous) else _shown(word))
            previous = word
    return tuple(word[:_LONGEST] for word in visible[:_MOST])


def _is_secret(flag: str) -> bool:
    return flag.startswith("-") and bool(_SECRET.search(flag)) and not _COUNTS.search(flag)


def _shown(word: str) -> str:
    try:
        value: Json = json.loads(word)
    except ValueError:
        value = word
    if isinstance(value, dict | list):
        return json.dumps(_without_places(value), ensure_ascii=False)
    return _plain(word)


def _without_places(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: _HIDDEN
            if _SECRET.search(key) and not _COUNTS.search(key)
            else _without_places(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    return _plain(value) if isinstance(value, str) else value


def _plain(text: str) -> str:
    """The text, unless it is a place on a disk or has signs that the format does not take."""
    text = re.sub(r"[\x00-\x1f<>]", "", text)
    if "/" not in text and "\\" not in text and not text.startswith("~"):
        return text
    is_hub_name = _HUB_NAME.fullmatch(text) is not None
    return text if is_hub_name and not Path(text).exists() else _HIDDEN


Command = tuple[str, ...]
Door = Address | Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The way to the baseline's server and to that of each method, in their order."""

    base: Door
    spec: tuple[Door, ...]
    option: str


def doors(reach: ConnectionOptions) -> Doors:
    """The ways that the options name. Raises `UsageError` when they are not one set of them."""
    urls = [text for text in (reach.base_url, *reach.spec_base_urls) if text]
    commands = [text for text in (reach.server_command, *reach.spec_server_commands) if text]
    if urls and commands:
        message = "give servers that run (--base-url) or commands that start them, not both"
        raise UsageError(message)
    if reach.base_url is not None:
        return Doors(
            base=parse(reach.base_url, option="--base-url"),
            spec=tuple(parse(url, option="--spec-base-url") for url in reach.spec_base_urls),
            option="--spec-base-url",
        )
    if reach.server_command is not None:
        option = "--spec-server-command"
        return Doors(
            base=words(reach.server_command, option="--server-command"),
            spec=tuple(words(each, option=option) for each in reach.spec_server_commands),
            option=option,
        )
    message = (
        "this runner needs a server without speculation, --base-url URL or --server-command "
        '"… --port {port}", and one more with it for each --method: --spec-base-url URL or '
        "--spec-server-command"
    )
    raise UsageError(message)


def check(found: Doors, campaign: Campaign) -> None:
    """Raise `UsageError` when the servers are not those that the arms of a campaign need."""
    methods = speculation(campaign)
    if not methods:
        message = (
            "say with --method how the other server drafts, such as "
            "--method draft-model:n_max=5 --draft NAME or --method prompt-lookup:n_max=5"
        )
        raise UsageError(message)
    if len(methods) != len(found.spec):
        message = (
            f"{len(methods)} methods and {len(found.spec)} {found.option}: speculation is fixed "
            "when a server starts, so give one for each --method, in their order"
        )
        raise UsageError(message)
    if not isinstance(found.base, Address) and found.base in found.spec:
        message = f"{found.option} is the baseline's command; give one that turns speculation on"
        raise UsageError(message)
    for arm in campaign.arms:
        if arm.role != "speculation" and not isinstance(arm.method, NoSpeculation):
            message = f"a server has no arm {arm.id}; leave out that --method"
            raise UsageError(message)


def command_lines(found: Doors, campaign: Campaign) -> tuple[str, ...]:
    """The commands that start a campaign's servers, one line for each arm; none where they run."""
    methods = speculation(campaign)
    ways = (door_of(arm, found, methods) for arm in campaign.arms)
    return tuple(shlex.join(way) for way in ways if not isinstance(way, Address))


def door_of(arm: ArmPlan, found: Doors, methods: Sequence[Method]) -> Door:
    """The way to the server of an arm."""
    return found.spec[methods.index(arm.method)] if arm.role == "speculation" else found.base


def speculation(campaign: Campaign) -> list[Method]:
    """The methods of a campaign in order, each once: concurrency makes several arms of one."""
    methods = (arm.method for arm in campaign.arms if arm.role == "speculation")
    return list(dict.fromkeys(methods))
