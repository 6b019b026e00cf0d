"""Let vLLM on CPUs accept a configured number of drafted tokens.

This is a vLLM plugin for tests. vLLM reads `synthetic_acceptance_length`, turns the length into an
acceptance rate per position, drafts, verifies and counts. However, its CPU kernel (0.32) cannot
choose the accepted tokens and stops with "Synthetic acceptance not supported with CPU sampling".
For greedy requests, this plugin chooses the tokens as vLLM's GPU kernel does.
"""

from itertools import pairwise
from typing import Any

from vllm.utils import cpu_triton_utils

KERNEL = "_rejection_greedy_sample_kernel_impl"
compiled = vars(cpu_triton_utils)[KERNEL]


def register() -> None:
    """Replace the kernel before vLLM binds it."""
    setattr(cpu_triton_utils, KERNEL, choose)


def choose(*given: Any, **more: Any) -> None:  # noqa: ANN401 - tensors, in the order of the kernel
    """Write the tokens of a round: the accepted tokens, then the target's own token."""
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
