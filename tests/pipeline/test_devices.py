"""A result has one device everywhere: on one card, on several, or on one of several."""

from dataclasses import replace

from estimates.summary import summarize
from pipeline.intake import comment
from pipeline.intake.reply import Reply, Result
from pipeline.intake.submission_digest import understand
from schemas.submission import Device, Gpu, Submission
from tests.pipeline.tables import database, entry, one
from tests.samples import sample

BIG = Gpu(name="NVIDIA GeForce RTX 3090", vendor="nvidia", vram_mib=24576)


def on(*gpus: Gpu, listed: int | None = None) -> Submission:
    """A result from a machine with these cards, some of which the engine lists."""
    plain = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    devices = None
    if listed is not None:
        devices = tuple(Device(name=f"CUDA{number}", kind="gpu") for number in range(listed))
    return replace(
        plain,
        machine=replace(plain.machine, gpus=gpus),
        engine=replace(plain.engine, devices=devices),
    )


def test_two_cards_and_one_of_them_never_share_a_cell() -> None:
    pair, single = on(BIG, BIG), on(BIG)
    connection = database(entry(pair, summarize(pair)), entry(single, summarize(single)))

    assert one(connection, "select count(distinct device) from cell") == (2,)
    assert one(connection, "select max(submissions) from cell") == (1,)


def test_two_cards_are_one_device_in_the_table_and_the_comment() -> None:
    pair = on(BIG, BIG, listed=2)
    understood = understand(pair)
    reply = Reply(
        decision="accepted",
        base="0" * 40,
        head="1" * 40,
        result_count=1,
        finding_count=0,
        results=(Result(file="results/community/pair.json", understood=understood),),
        findings=(),
    )

    (label,) = one(database(entry(pair, summarize(pair))), "select device_label from setup")

    assert f"- Machine: `{label}`, `cuda`\n" in comment.body(reply)
