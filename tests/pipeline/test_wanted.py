"""What is wanted is what common devices lack, with a line to paste."""

from pipeline.site.pages.shown_commands import fill
from pipeline.site.rows import read
from tests.pipeline.tables import campaign, database

# Sample-7B at about 5 bits takes 4.1 GiB. Of the common devices the RTX 4060 8 GB (weight 3) and
# the RTX 3070 8 GB (weight 2) hold it in three quarters of their memory.
CARDS = {"gpu": "NVIDIA GeForce RTX 4060"}


def wanted(*contributors: str) -> dict[str, tuple[str, float]]:
    """What is known of each device and how much it is wanted; another card has the model, too."""
    connection = database(
        *(campaign(1.5, task="code", contributor=each, **CARDS) for each in contributors),
        campaign(1.5, task="code", gpu="NVIDIA A9", contributor="eve"),
        campaign(1.5, task="code", gpu="NVIDIA B9", contributor="eve"),
    )
    return {row.device_label: (row.known, row.wanted) for row in read(connection, "wanted")}


def test_a_common_device_of_which_nothing_is_known_comes_before_a_measured_one() -> None:
    # Three devices have the model. RTX 3070: 2 * 3. RTX 4060 is one of the three: 3 * 2 / 4.
    found = wanted("ada")

    assert found["RTX 3070 8 GB"] == ("nothing", 6.0)
    assert found["RTX 4060 8 GB"] == ("measured", 1.5)


def test_what_a_second_contributor_confirmed_is_not_wanted() -> None:
    assert "RTX 4060 8 GB" not in wanted("ada", "bob")


def test_a_model_on_a_single_device_is_not_asked_for() -> None:
    assert read(database(campaign(1.5, task="code")), "wanted") == ()


def test_the_command_names_models_method_and_depth() -> None:
    connection = database(campaign(1.5, gpu="NVIDIA A9"), campaign(1.5, gpu="NVIDIA B9"))

    row, *_ = read(connection, "wanted")

    assert fill(row) == (
        "python -m harness run --target Sample-7B-Q4_K_M.gguf --draft Tiny-500M-Q8_0.gguf"
        " --method draft-model:n_max=4"
    )
    mtp = row._replace(method="mtp", draft_label=None, depth=2)
    assert fill(mtp) == (
        "python -m harness run --target Sample-7B-Q4_K_M.gguf --method mtp:n_max=2"
        " --runner llama-server"
    )
