"""The in-process runner's door: opens a session on llama-cpp-python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import MachineError

if TYPE_CHECKING:
    from harness.model import Campaign
    from harness.runners.base import Session


class LlamaCppPython:
    """Runs targets and drafts inside this process."""

    def open(self, campaign: Campaign) -> Session:
        """Load the target. Raises `HarnessError` when it cannot be loaded."""
        try:
            # Importing the binding loads the engine; only the process that runs it should.
            from harness.runners.llama.session import LlamaSession  # noqa: PLC0415
        except (ImportError, OSError, RuntimeError) as error:
            message = (
                f"llama-cpp-python cannot be loaded ({error}); "
                "install it with: CMAKE_ARGS=-DGGML_NATIVE=OFF pip install llama-cpp-python"
            )
            raise MachineError(message) from error
        return LlamaSession(campaign)
