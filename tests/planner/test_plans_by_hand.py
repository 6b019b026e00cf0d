"""Two whole plans agree with calculations on paper."""

import pytest

from planner.model import Memory, Setting
from planner.placement import LoadPlan, fit, free_of, largest_context
from planner.speed import nominal_speed, plain
from tests.known_models import known

HOST = Memory(name="host", free_mib=30_000)


def test_a_dense_model_of_8b_on_a_12_gb_card() -> None:
    """Llama 3.1 8B in Q8_0: 34 bytes for 32 weights, on an RTX 3060 with 360 GB/s."""
    # Free: 12288 MiB less 5 % and 700 = 10973.6; with the margin of 1024 left 9949.6.
    card = Memory(name="card", free_mib=free_of(12 * 1024), bandwidth_gb_per_s=360)
    case = LoadPlan(
        target=known("llama-3.1-8b", "Q8_0"),
        setting=Setting(context=8192),
        devices=(card,),
        host=HOST,
    )

    found = fit(case)
    device = found.devices[0]

    # A layer: q and o 4096 x 4096, k and v 4096 x 1024, three of 4096 x 14336 = 218,103,808
    # weights = 221 MiB; 32 of them 7072. Output: 128256 x 4096 = 532.3125 MiB, embedding the same.
    assert device.model == pytest.approx(7072 + 532.3125)
    assert found.host.model == pytest.approx(532.3125)
    # 32 layers x (1024 keys + 1024 values) x 8192 tokens x 2 bytes.
    assert device.kv == 1024
    # Mask 8192 x 512 x 2 bytes = 8; gate, up, product, three rows: (3 x 14336 + 3 x 4096) x 2048.
    assert device.compute == 8 + 108
    # Mask and two rows of 4096 x 512 x 4 bytes; logits of one token.
    assert found.host.compute == 8 + 16
    assert found.host.output == pytest.approx(128256 * 4 / 2**20)
    assert (found.placement.layers, found.fits) == (33, True)
    # Left for tokens: 9949.6 - 7604.3 - 108 = 2237.3; a token takes 0.125 of cache and 1/1024 of
    # mask, so 17,759 tokens, in steps of 1,024: 17,408.
    assert largest_context(case, found.placement) == 17_408
    # 7604.3 MiB and 128 of cache at 1,024 tokens (an eighth of the context), at 360 x 0.62 GB/s:
    # 36.32 ms; 32 layers start in 0.64 ms more.
    machine = nominal_speed(360, None)
    assert plain(case, found, machine).estimate == pytest.approx(1000 / 36.97, rel=1e-3)


def test_a_hybrid_of_27b_with_its_own_head_and_four_slots() -> None:
    """Qwen3.5 27B in Q8_0; a public log of its file says 26,402.70 MiB of weights on the device."""
    setting = Setting(context=8192, slots=4, rollback_states=3)
    case = LoadPlan(
        target=known("qwen3.5-27b", "Q8_0", with_head=True),
        setting=setting,
        devices=(Memory(name="card", free_mib=48_000),),
        host=HOST,
        uses_head=True,
    )

    found = fit(case)
    device = found.devices[0]

    # Feed-forward: 3 x 5120 x 17408 = 267,386,880 weights. 48 layers with a state: and
    # 5120 x (3 x 6144 + 2 x 16 x 128) = 387.8125 MiB; 16 that attend: and
    # 5120 x (24 x 256 x 3 + 2 x 4 x 256) = 377.1875. Half of each kind has 12 % more, half less.
    layers = 48 * 387.8125 + 16 * 377.1875
    # The head: one that attends, and 2 x 5120 x 5120 to join = 430.3125, being late 12 % more.
    head = 430.3125 * 1.12
    # Output 248320 x 5120.
    assert device.model == pytest.approx(layers + head + 1288.28125)
    assert device.model == pytest.approx(26_402.70, abs=20)
    # 16 layers x 2048 x 8192 x 2 bytes; the head's one layer a sixteenth of it.
    assert (device.kv, device.draft_kv) == (512, 32)
    # (3 x (6144 + 2 x 16 x 128) + 128 x 6144) x 4 bytes x 48 = 149.625 MiB, for four slots, and
    # three copies for each to undo rejected tokens.
    assert device.recurrent == 149.625 * 4 * 4
    # Mask 8192 x 512 x 2 bytes = 8, and rows of 512 x 4 bytes: 3 x 17408 with three of 5120, in
    # the head with two.
    assert device.compute == 8 + (3 * 17408 + 3 * 5120) * 2048 / 2**20
    assert device.draft_compute == 8 + (3 * 17408 + 2 * 5120) * 2048 / 2**20
    assert found.placement.layers == 66
    # Four slots, one row of logits each.
    assert found.host.output == pytest.approx(4 * 248320 * 4 / 2**20)
