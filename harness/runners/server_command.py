"""A command that starts a server, as a user writes it, with a placeholder for its port."""

from collections.abc import Sequence

from harness.errors import BadInputError
from harness.machine.command_line import split_command
from schemas.public_arguments import PORT


def command_words(command: str, *, option: str) -> tuple[str, ...]:
    """Return the words of a command line.

    Raises `BadInputError` if there is no placeholder for the port.
    """
    try:
        words = tuple(split_command(command))
    except ValueError as error:
        raise BadInputError(f"{option}: {error}; quote the command as for a shell") from error
    if not any(PORT in word for word in words):
        raise BadInputError(
            f"{option} needs a place for the port: write {PORT}, as in --port {PORT}"
        )
    return words


def with_port(command: Sequence[str], port: int) -> tuple[str, ...]:
    return tuple(word.replace(PORT, str(port)) for word in command)
