"""Measure the runs of a matrix on the workers that connect; dask.distributed assigns the runs."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import dask
from distributed import Client, Future, Scheduler, SpecCluster, as_completed
from distributed.security import Security

from harness.console import say
from harness.errors import MachineError
from harness.files import written
from harness.fleet import worker
from harness.fleet.matrix import MatrixRun
from harness.fleet.owned_device import OwnedDevice


async def measure(
    runs: Sequence[MatrixRun],
    devices: Sequence[OwnedDevice],
    address: str,
    key: Security,
    output: Path,
) -> dict[str, str]:
    """Measure runs on local devices and on workers that connect; return the failures by run.

    Results are written to the folder `output`. Raises `MachineError` if the address cannot be used.
    """
    dask.config.set(worker.CONFIG)
    cluster = _cluster(devices, address, key)
    try:
        await cluster
    except (OSError, RuntimeError, ValueError) as error:
        raise MachineError(
            f"{address} cannot be used ({error}); choose another --listen address"
        ) from error
    failed: dict[str, str] = {}
    async with cluster, Client(cluster, asynchronous=True) as client:
        client.subscribe_topic(worker.PROGRESS, lambda event: say(event[1]))
        waiting = asyncio.create_task(_report_waiting(cluster.scheduler))
        async for future in as_completed([_submitted(client, run) for run in runs]):
            name = future.key[1]
            found = await future.exception() or await future
            if not isinstance(found, str):
                failed[name] = str(found)
                say(f"{name} failed: {found}")
                continue
            with written(output / f"{name}.json") as part:
                part.write_text(found, "utf-8")
            say(f"{name} is done.")
        waiting.cancel()
    return failed


def _submitted(client: Client, run: MatrixRun) -> Future:
    more = {"key": ("run", run.id), "resources": run.needs, "retries": run.attempts - 1}
    return client.submit(worker.measure, run, **more)


def _cluster(devices: Sequence[OwnedDevice], address: str, key: Security) -> SpecCluster:
    options = {"host": address, "protocol": "tls", "dashboard_address": "127.0.0.1:0"}
    own = {each.name: {"device": each, "security": key} for each in devices}
    return SpecCluster(
        scheduler={"cls": Scheduler, "options": {**options, "security": key}},
        workers={name: {"cls": worker.nanny, "options": given} for name, given in own.items()},
        security=key,
        asynchronous=True,
        silence_logs=logging.CRITICAL,
    )


async def _report_waiting(scheduler: Scheduler) -> None:
    """Report regularly which resources the runs need but no worker offers."""
    while True:
        await asyncio.sleep(30)
        for task in scheduler.unrunnable:
            needs = ", ".join(task.resource_restrictions)
            say(f"{task.key[1]} waits for a worker that offers {needs}.")
