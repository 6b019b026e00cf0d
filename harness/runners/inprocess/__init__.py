"""The in-process runner: llama.cpp through the low-level interface of llama-cpp-python."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from operator import methodcaller
from pathlib import Path

from harness.campaign.model import Campaign
from harness.errors import MachineError
from harness.runners.base import Adapter, Agreement, DraftReader, Session, WrittenText
from harness.runners.isolated import IsolatedSession
from harness.runners.options import ConnectionOptions


def connect(options: ConnectionOptions) -> Adapter:
    """The engine in a child process, so that a crash of it does not end this one."""
    limit_s = options.answer_limit_s
    return Adapter(
        open=partial(IsolatedSession, open_in_process, answer_limit_s=limit_s),
        open_draft=_IsolatedReader,
    )


def open_in_process(campaign: Campaign) -> Session:
    """Load the target in the process that calls this. Raises `HarnessError`."""
    with _loading():
        # Importing the binding loads the engine; only the process that runs it should.
        from harness.runners.inprocess.session import LlamaSession  # noqa: PLC0415
    return LlamaSession(campaign)


def open_reader(campaign: Campaign, *, vocabulary_of: Path | None) -> DraftReader:
    """Load the first draft in the process that calls this. Raises `HarnessError`."""
    with _loading():
        from harness.runners.inprocess.draft_reader import LlamaDraftReader  # noqa: PLC0415
    return LlamaDraftReader(campaign, vocabulary_of=vocabulary_of)


class _IsolatedReader(IsolatedSession):
    """Passes texts to a draft in a child process."""

    def __init__(self, campaign: Campaign, vocabulary_of: Path | None) -> None:
        """Start a child and load the draft there. Raises what the child raised."""
        super().__init__(partial(open_reader, vocabulary_of=vocabulary_of), campaign)

    def agreement(self, text: WrittenText) -> Agreement:
        found: Agreement = self.ask(methodcaller("agreement", text))
        return found

    def drafting_ms(self) -> float:
        return float(self.ask(methodcaller("drafting_ms")))


@contextmanager
def _loading() -> Iterator[None]:
    try:
        yield
    except (ImportError, OSError, RuntimeError) as error:
        message = (
            f"llama-cpp-python cannot be loaded ({error}); "
            "install it with: CMAKE_ARGS=-DGGML_NATIVE=OFF pip install llama-cpp-python"
        )
        raise MachineError(message) from error
