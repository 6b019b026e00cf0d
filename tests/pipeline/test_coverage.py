"""What is wanted is what is empty or thin, most comparable first, with a line to paste."""

from pipeline.site.pages.commands import fill
from pipeline.site.rows import read
from schemas.vocabulary import FIXED_TASKS
from tests.pipeline.tables import campaign, database


def test_an_empty_cell_counts_by_what_it_can_be_compared_with() -> None:
    # Card A has two voters on code (confirmed), card B one on chat. A lacks chat: 1 + 1 vote of B,
    # times two rigs' worth of contributors on one rig. B lacks code: 1 + 2 votes; chat is thin
    # there with no vote elsewhere: 0.5. One rig each.
    connection = database(
        campaign(1.5, task="code", gpu="A 1", contributor="ada"),
        campaign(1.5, task="code", gpu="A 1", contributor="bob"),
        campaign(1.5, task="chat", gpu="B 2", contributor="eve"),
    )

    found = {
        row.device_label: (row.empty_tasks, row.thin_tasks, row.confirmed_tasks, row.wanted)
        for row in read(connection, "wanted")
    }

    assert found == {
        "A 1 8 GB": (["chat"], None, 1, 2.0),
        "B 2 8 GB": (["code"], ["chat"], 0, 3.5),
    }


def test_the_command_names_models_method_depth_and_the_missing_tasks() -> None:
    (row,) = read(database(campaign(1.5, task="code")), "wanted")

    assert fill(row) == (
        "python -m harness run --target Sample-7B-Q4_K_M.gguf --draft Tiny-500M-Q8_0.gguf"
        " --method draft-model:n_max=4 --tasks code"
    )


def test_where_every_task_is_missing_the_command_names_none() -> None:
    (row, *_) = read(database(campaign(1.5, task="code")), "wanted")

    everything = row._replace(empty_tasks=list(FIXED_TASKS), thin_tasks=None)

    command = fill(everything)

    assert command is not None
    assert command.endswith("--method draft-model:n_max=4")


def test_what_only_a_server_drafts_is_asked_of_a_server() -> None:
    (row, *_) = read(database(campaign(1.5, task="code")), "wanted")

    looked_up = row._replace(method="ngram-simple", draft_label=None, depth=8)

    assert fill(looked_up) == (
        "python -m harness run --target Sample-7B-Q4_K_M.gguf"
        " --method ngram-simple:n_max=8 --runner llama-server --tasks code"
    )
    assert fill(row._replace(method="eagle3")) is None


def test_a_confirmed_campaign_is_not_wanted() -> None:
    connection = database(
        campaign(1.5, task="code", contributor="ada"),
        campaign(1.5, task="code", contributor="bob"),
    )

    assert read(connection, "wanted") == ()
