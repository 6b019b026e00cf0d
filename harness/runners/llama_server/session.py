"""Measure through any llama-server binary: a fresh server for every arm in every block.

Only one target fits into most memories, so each arm has the machine to itself for one pass over
the prompts.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.campaign.filling import filled
from harness.campaign.model import ArmPlan, Campaign, layers_of
from harness.models.thinking import has_switch
from harness.runners.base import EngineReport, Failure, Generation, PreparedArm, Session
from harness.runners.failures import failure_in_log, reason_in_log
from harness.runners.http.client import Address, Client
from harness.runners.http.process import HOST
from harness.runners.http.session import Question, Server, ServerSession
from harness.runners.llama_server import exchange
from harness.runners.llama_server.binary import Binary, find
from harness.runners.llama_server.launch import Launcher
from harness.runners.options import ConnectionOptions
from schemas.submission import DeviceMemory, Placement

_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_BUFFER = re.compile(r"load_tensors:\s+(\S+) model buffer size")
_LOADS = re.compile(r"load_tensors: loading model tensors")
_SIZE = re.compile(r"(\S+)\s+(?:model|KV|RS|compute|output) buffer size =\s*([0-9.]+) MiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """Layers on a GPU, target first, then the draft if one was loaded."""

    target: int | None
    draft: int | None


def resident_layers(text: str) -> Resident:
    """Layers that really lie on a GPU.

    The engine says "offloaded 31/31" also where there is no GPU at all; then every buffer is one
    of the CPU, and the truth is 0. A build without GPU backends says nothing of layers.
    """
    counts = [_layers(part) for part in _loads(text)]
    return Resident(
        target=counts[0] if counts else None,
        draft=counts[1] if len(counts) > 1 else None,
    )


def _layers(text: str) -> int | None:
    """Layers of one model on a GPU, from the log of its loading."""
    buffers = _BUFFER.findall(text)
    if buffers and all(name.startswith("CPU") for name in buffers):
        return 0
    match = _OFFLOADED.search(text)
    return int(match[1]) if match else None


def buffers_mib(text: str) -> dict[str, float]:
    """Memory that the server reserved, by device: weights, caches and work space, in MiB.

    Weights that are mapped from the file are counted under the device that reads them.
    """
    sizes: dict[str, float] = {}
    for name, size in _SIZE.findall(text):
        device = name.removesuffix("_Mapped").removesuffix("_Host").removesuffix("_REPACK")
        sizes[device] = sizes.get(device, 0.0) + float(size)
    return sizes


def _loads(text: str) -> list[str]:
    """The log of each model's loading, up to the next one's."""
    starts = [match.start() for match in _LOADS.finditer(text)]
    ends = [*starts, len(text)][1:]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def in_use(
    text: str, *, before_mib: Mapping[str, int], after_mib: Mapping[str, int]
) -> tuple[DeviceMemory, ...] | None:
    """Memory per device, `None` if unknown: the larger of two figures.

    The log names the buffers that were reserved. What each device has less free than before the
    start also holds the driver's own share, but a process that ended meanwhile hides it.
    """
    reserved = {name: round(size) for name, size in buffers_mib(text).items()}
    gone = {
        name: free_mib - after_mib[name]
        for name, free_mib in before_mib.items()
        if name in after_mib
    }
    most = {name: max(reserved.get(name, 0), gone.get(name, 0)) for name in {*reserved, *gone}}
    return (
        tuple(DeviceMemory(device=name, peak_mib=size) for name, size in sorted(most.items()))
        or None
    )


class LlamaServerSession(ServerSession[Server]):
    """One server at a time, started with the arguments of the arm that has its turn."""

    def __init__(
        self, campaign: Campaign, binary: Binary, launcher: Launcher, *, answer_limit_s: float
    ) -> None:
        super().__init__(campaign)
        self._binary = binary
        self._launcher = launcher
        self._answer_limit_s = answer_limit_s
        self._prompts: dict[str, tuple[int, ...]] = {}

    def report(self) -> EngineReport:
        """What the binary states of itself."""
        return self._binary.report(self._campaign)

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Start the arm's server once, and discard one generation with speculation on."""
        self.rest()
        free_mib = self._binary.free_mib()
        prepared = super().prepare(arm)
        if isinstance(prepared, Failure) or self._started is None or not self._started.process:
            return prepared
        log = self._started.process.log()
        return replace(
            prepared,
            placement=self._placement(self._arms[arm], log),
            peak_memory=in_use(log, before_mib=free_mib, after_mib=self._binary.free_mib()),
        )

    def _start(self, arm: ArmPlan) -> Server | Failure:
        began = time.perf_counter()
        process = self._launcher.start(arm)
        if isinstance(process, Failure):
            return process
        log = process.log()
        # A draft that does not fit is a line in the log and no more: it is loaded and never asked.
        if arm.drafts and reason_in_log(log) == "vocabulary-mismatch":
            process.end()
            return failure_in_log(
                log, otherwise="vocabulary-mismatch", what="the draft does not fit"
            )
        address = Address(host=HOST, port=process.port)
        return Server(
            client=Client(address=address, limit_s=self._answer_limit_s),
            process=process,
            load_s=time.perf_counter() - began,
            argv=self._launcher.shown(arm),
        )

    def _ask(self, server: Server, question: Question) -> Generation:
        return exchange.generate(
            server.client,
            self._prompt(server, question),
            question,
            counts=question.alone and "--metrics" in self._binary.abilities.flags,
        )

    def _margins(
        self, server: Server, question: Question, known: Generation
    ) -> tuple[float, ...] | None:
        return exchange.margins_of(server.client, self._prompt(server, question), known)

    def _prompt(self, server: Server, question: Question) -> tuple[int, ...]:
        """The prompt's token ids, rendered once; every arm gets the same."""
        text = question.text
        if text not in self._prompts:
            thinking = self._campaign.settings.thinking
            template = self._binary.template(self._campaign)
            if not self._prompts and not thinking and has_switch(template):
                exchange.require_switch(server.client)

            def tokens_of(each: str) -> tuple[int, ...]:
                rendered = exchange.rendered(server.client, each, thinking=thinking)
                return exchange.tokenized(server.client, rendered)

            depth = None if question.warm_up else self._campaign.settings.context_depth
            whole = text
            if depth is not None:
                whole = filled(text, depth=depth, size_of=lambda each: len(tokens_of(each)))
            self._prompts[text] = tokens_of(whole)
        return self._prompts[text]

    def _placement(self, arm: ArmPlan, log: str) -> Placement:
        settings, resident = self._campaign.settings, resident_layers(log)
        drafts = getattr(arm.method, "draft", None) is not None
        return Placement(
            target_gpu_layers_requested=layers_of(arm, settings),
            target_gpu_layers_resident=resident.target,
            draft_gpu_layers_requested=settings.draft_gpu_layers if drafts else None,
            draft_gpu_layers_resident=resident.draft if drafts else None,
        )


class LlamaServer:
    """Opens sessions on a binary."""

    def __init__(self, options: ConnectionOptions) -> None:
        self._options = options

    def open(self, campaign: Campaign) -> Session:
        """Ask the binary what it can do. Raises `HarnessError` when there is none."""
        binary = find(self._options.binary)
        limit_s = self._options.startup_limit_s
        launcher = Launcher(campaign=campaign, binary=binary, startup_limit_s=limit_s)
        limit_s = self._options.answer_limit_s
        return LlamaServerSession(campaign, binary, launcher, answer_limit_s=limit_s)
