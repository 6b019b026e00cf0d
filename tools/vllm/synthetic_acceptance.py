"""Lets vLLM for processors accept as many drafted tokens as configured.

A plugin of vLLM, for tests. vLLM reads `synthetic_acceptance_length`, makes it rates by position,
drafts, verifies and counts; only the choice is missing in its kernel for processors (0.32), which
stops with "Synthetic acceptance not supported with CPU sampling". This is that choice, for greedy
requests, as vLLM's kernel for graphics cards makes it.
"""

from itertools import pairwise
from typing import Any

from vllm.utils import cpu_triton_utils

KERNEL = "_rejection_greedy_sample_kernel_impl"
compiled = vars(cpu_triton_utils)[KERNEL]


def register() -> None:
    """Take the place of the kernel, before vLLM binds it."""
    setattr(cpu_triton_utils, KERNEL, choose)


def choose(*given: Any, **more: Any) -> None:  # noqa: ANN401 - tensors, in the order of the kernel
    """Write the tokens of a round: those accepted, then the target's own."""
    output, ends, drafted, argmax, bonus, is_greedy, _longest, uniform, rates, *_ = given
    if rates is None:
        compiled(*given, **more)
        return
    for row, (start, end) in enumerate(pairwise([0, *ends.tolist()])):
        if is_greedy is not None and not is_greedy[row]:
            continue
        wrong = (uniform[start:end] >= rates[: end - start]) | (drafted[start:end] < 0)
        accepted = int(wrong.int().argmax()) if bool(wrong.any()) else end - start
        own = argmax[start + accepted] if accepted < end - start else bonus.view(-1)[row]
        output[row, :accepted] = drafted[start : start + accepted]
        output[row, accepted] = own
