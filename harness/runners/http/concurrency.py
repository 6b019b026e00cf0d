"""Answer several requests at once, in threads."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from harness.runners.base import Failure, FinishedRequest, Generation, TrialRequest

Answer = Callable[[TrialRequest], Generation | Failure]


def together(
    requests: Sequence[TrialRequest], concurrency: int, answer: Answer
) -> Iterator[FinishedRequest]:
    """Each request with its answer, as soon as it has one.

    `answer` is called in threads, at most `concurrency` at a time and in the order of `requests`.
    If the caller stops early, no more start, and it does not wait for those in flight.
    """
    began = time.perf_counter()

    def run(request: TrialRequest) -> FinishedRequest:
        started_ms = (time.perf_counter() - began) * 1000
        return FinishedRequest(request=request, started_ms=started_ms, result=answer(request))

    pool = ThreadPoolExecutor(max_workers=concurrency)
    try:
        running = {pool.submit(run, request) for request in requests}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
