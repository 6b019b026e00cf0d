"""Measure the runs of a matrix on the workers that connect; dask.distributed assigns the runs."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import dask
from distributed import Client, Scheduler, SpecCluster, as_completed
from distributed.security import Security

from harness import files
from harness.errors import MachineError
from harness.fleet import worker
from harness.fleet.matrix import MatrixRun
from harness.fleet.owned_device import OwnedDevice


@dataclass(frozen=True, slots=True)
class Fleet:
    address: str
    security: Security
    output: Path
    say: Callable[[str], None]

    async def measure(
        self, runs: Sequence[MatrixRun], devices: Sequence[OwnedDevice]
    ) -> dict[str, str]:
        """Measure runs on local devices and on workers that connect; return the failures by run.

        Raises `MachineError` if the address cannot be used.
        """
        dask.config.set(worker.CONFIG)
        cluster = self._cluster(devices)
        try:
            await cluster
        except (OSError, RuntimeError, ValueError) as error:
            raise MachineError(
                f"{self.address} cannot be used ({error}); choose another --listen address"
            ) from error
        failed: dict[str, str] = {}
        async with cluster, Client(cluster, asynchronous=True) as client:
            client.subscribe_topic(worker.PROGRESS, lambda event: self.say(event[1]))
            waiting = asyncio.create_task(self._report_waiting(cluster.scheduler))
            futures = [
                client.submit(
                    worker.measure,
                    run,
                    key=("run", run.id),
                    resources=run.needs,
                    retries=run.attempts - 1,
                )
                for run in runs
            ]
            async for future in as_completed(futures):
                name = future.key[1]
                found = await future.exception() or await future
                if not isinstance(found, str):
                    failed[name] = str(found)
                    self.say(f"{name} failed: {found}")
                    continue
                with files.written(self.output / f"{name}.json") as part:
                    part.write_text(found, "utf-8")
                self.say(f"{name} is done.")
            waiting.cancel()
        return failed

    def _cluster(self, devices: Sequence[OwnedDevice]) -> SpecCluster:
        options = {"host": self.address, "protocol": "tls", "dashboard_address": "127.0.0.1:0"}
        own = [(each.name, {"device": each, "security": self.security}) for each in devices]
        return SpecCluster(
            scheduler={"cls": Scheduler, "options": {**options, "security": self.security}},
            workers={name: {"cls": worker.nanny, "options": options} for name, options in own},
            security=self.security,
            asynchronous=True,
            silence_logs=logging.CRITICAL,
        )

    async def _report_waiting(self, scheduler: Scheduler) -> None:
        """Report regularly which resources the runs need but no worker offers."""
        while True:
            await asyncio.sleep(30)
            for task in scheduler.unrunnable:
                needs = ", ".join(task.resource_restrictions)
                self.say(f"{task.key[1]} waits for a worker that offers {needs}.")
