"""A submission is unchanged by writing and reading."""

from dataclasses import replace

import msgspec
import pytest

from schemas import contract, vocabulary
from schemas.codec import decode, encode
from schemas.method import NO_SPECULATION
from schemas.submission import Arm, Method, Placement, Role, Submission, Trial
from tests.samples import sample, sample_bytes

METHODS: tuple[Method, ...] = (
    NO_SPECULATION,
    Method(type="draft-model", draft="tiny-q8-0", n_max=4, p_min=0.5, adaptive=False),
    Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4),
    *(Method(type=f"ngram-{kind}", n_max=48, min_hits=1) for kind in ("simple", "map-k", "mod")),
    Method(type="ngram-map-k4v", adaptive=True),
    Method(type="ngram-cache"),
    Method(type="suffix"),
    *(
        Method(type=kind, draft="tiny-q8-0", n_max=3)
        for kind in ("pard", "eagle3", "dflash", "dflash2", "dspark", "lossy")
    ),
    Method(type="mtp"),
    Method(type="oracle", n_max=4, acceptance=0.8),
    Method(type="forced", n_max=4, length=2.5),
    Method(type="forced", n_max=4, length=2.5, draft="tiny-q8-0"),
    Method(type="empty-draft"),
    Method(type="other", name="lookahead", n_max=4),
    Method(type="other", name="ngram-mod+mtp", chain=("ngram-mod", "mtp")),
    Method(type="mtp", n_max=9, adaptive=True, controller="autotune"),
)


def test_a_submission_survives_the_round_trip() -> None:
    submission = sample(seed=1)

    rounded = contract.read(sample_bytes(submission))

    assert isinstance(rounded, Submission)
    assert contract.read(sample_bytes(rounded)) == rounded


def test_the_list_above_has_every_kind_of_method() -> None:
    assert {method.type for method in METHODS} == vocabulary.METHODS.keys()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.type)
def test_every_method_is_accepted_and_read_back_as_it_was_written(method: Method) -> None:
    submission = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    baseline, *_ = submission.arms
    role: Role = "control" if method.type in ("none", "empty-draft", "forced") else "speculation"
    layers = Placement(target_gpu_layers_requested=-1, draft_gpu_layers_requested=-1)
    first = next(trial for trial in submission.trials if trial.arm == baseline.id)
    judged = Arm(
        id="judged", role=role, method=method, baseline="baseline", load_s=1.5, placement=layers
    )

    changed = replace(
        submission,
        arms=(baseline, judged),
        trials=(replace(first, order=0),),
        warmups=submission.warmups[:1] if submission.warmups else None,
    )

    read = contract.read(sample_bytes(changed))
    assert isinstance(read, Submission), read
    assert read.arms == changed.arms


def test_none_values_are_left_out() -> None:
    trial = Trial(arm="a", prompt="p", block=0, order=0, outcome="failed", reason="crashed")

    assert encode(trial) == {
        "arm": "a",
        "prompt": "p",
        "block": 0,
        "order": 0,
        "outcome": "failed",
        "reason": "crashed",
    }


def test_a_whole_number_in_a_float_field_becomes_a_float() -> None:
    document = {"arm": "a", "prompt": "p", "block": 0, "order": 0, "outcome": "ok", "wall_ms": 3}

    decoded = decode(Trial, document)  # type: ignore[arg-type]  # a dict of JSON values

    assert isinstance(decoded.wall_ms, float)


def test_lists_become_tuples() -> None:
    document = {"arm": "a", "prompt": "p", "block": 0, "order": 0, "outcome": "ok"}

    decoded = decode(Trial, document | {"drafted_histogram": [1, 2]})  # type: ignore[arg-type]  # a dict of JSON values

    assert decoded.drafted_histogram == (1, 2)


def test_only_json_values_and_typed_values_can_be_encoded() -> None:
    with pytest.raises(TypeError, match="object"):
        encode(object())


@pytest.mark.parametrize(("field", "value"), [("block", 1.0), ("block", "1"), ("outcome", "fine")])
def test_a_value_of_another_type_is_refused_with_its_place(field: str, value: object) -> None:
    document = {"arm": "a", "prompt": "p", "block": 0, "order": 0, "outcome": "ok"}

    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{field}"):
        decode(Trial, document | {field: value})  # type: ignore[arg-type]  # a dict of JSON values
