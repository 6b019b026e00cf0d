"""Where does the server of an arm come from? It runs already, or a command starts it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.runners.openai import command
from harness.runners.openai.address import Address, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.model import ArmPlan, Campaign
    from harness.runners import Reach
    from schemas.submission import Method

Command = tuple[str, ...]
Door = Address | Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The way to the baseline's server and to that of each method, in their order."""

    base: Door
    spec: tuple[Door, ...]
    option: str


def doors(reach: Reach) -> Doors:
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
            base=command.words(reach.server_command, option="--server-command"),
            spec=tuple(command.words(each, option=option) for each in reach.spec_server_commands),
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
        if arm.role != "speculation" and arm.method.type != "none":
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
