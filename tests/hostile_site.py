"""Submissions that pass the gate and try hard to become code, links or layout.

There is one submission per trick, with the trick in every text field whose pattern allows it. The
fields are read from the schema, so new ones are filled automatically.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from schemas import contract, validator
from schemas.codec import canonical_bytes, encode
from schemas.submission import Device, Origin, Submission, Variable
from tests.samples import SampleCosts, sample
from tests.schema_tree import resolved

TRICKS = {
    "handlers": '" onmouseover="boom()" \' onerror=\'boom()\' autofocus onfocus=boom() x="',
    "entities": '--- &lt;script&gt;boom()&lt;/script&gt; \\u003cscript\\u003e \\"; boom(); //',
    "markdown": "[x](javascript:boom()) ![y](//example.invalid/y.png) **b** `c` | d | [^1] # e ~~~",
    "formula": "=cmd|' /C calc'!A0 javascript:boom() https://example.invalid/ www.example.invalid",
    "templates": "{{ boom() }} {% raw %} {# x #} ${boom()} {: onclick='boom()' } :smile: --8-- $x$",
    "long": "W" * 100 + " שלום مرحبا",
}


@cache
def submissions() -> dict[str, Submission]:
    """The submission of each trick; every one is valid."""
    return {
        name: _filled(number, text) for number, (name, text) in enumerate(TRICKS.items(), start=1)
    }


def file_stem(name: str) -> str:
    """The name of a trick's file, which is also the address of its page."""
    submission = submissions()[name]
    digest = hashlib.sha256(canonical_bytes(encode(submission))).hexdigest()[:8]
    day = submission.measured_from[:10].replace("-", "")
    return f"rig--{name}--{day}-{digest}"


def text_fields(document: Any, node: dict[str, Any]) -> Iterator[tuple[Any, Any, dict[str, Any]]]:  # noqa: ANN401 - any JSON value
    """Every text of a document: its container, its key there, and its schema."""
    root = validator.schema(validator.SUBMISSION_SCHEMA)
    entries = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in entries:
        part = node["properties"].get(key) if isinstance(document, dict) else node["items"]
        if part is None:
            continue
        inner = resolved(part, root)
        if isinstance(value, dict | list):
            if "properties" in inner or "items" in inner:
                yield from text_fields(value, inner)
        elif isinstance(value, str) and "pattern" in inner:
            yield document, key, inner


def _filled(number: int, text: str) -> Submission:
    """A campaign with every optional text, and the trick in every text that allows it.

    Arguments of servers must be on a list.
    """
    document: Any = encode(_complete(number))
    listed = [arm["argv"] for arm in document["arms"]]
    places = list(text_fields(document, validator.schema(validator.SUBMISSION_SCHEMA)))
    for holder, key, node in places:
        written = text[: node["maxLength"]].rstrip()
        if re.search(node["pattern"], written) and not any(holder is each for each in listed):
            holder[key] = written
    read = contract.read(canonical_bytes(document))
    assert isinstance(read, Submission), read
    return read


def _complete(number: int) -> Submission:
    """A small valid campaign in which every optional text is given; every third is an import."""
    backend = ("cuda", "vulkan", "cpu")[number % 3]
    costs = SampleCosts(step_ms=10.0 + number, draft_token_ms=1.0 + number)
    bare = sample(
        seed=number, backend=backend, prompts_per_task=1, blocks=1, costs=costs,
        contributor=f"c{number}",
    )  # fmt: skip
    gpu = replace(bare.machine.gpus[0], driver="1", api="1")
    device = Device(name="CPU", kind="cpu", description="d", memory_total_mib=32768)
    engine = replace(
        bare.engine, devices=(*bare.engine.devices, device), system_info="s",
        variables=(Variable(name="GGML_X", value="1"),),
    )  # fmt: skip
    own = f"{number:064x}"  # weights of its own: else it goes by another's name
    texts = {"derivation": "d", "repository": "a/b", "architecture": "llama", "sha256": own}
    complete = replace(
        bare,
        notes="n",
        machine=replace(bare.machine, gpus=(gpu,), ram_type="DDR5"),
        engine=engine,
        target=replace(bare.target, **texts),
        drafts=tuple(replace(draft, family="f", derivation="d") for draft in bare.drafts),
        settings=replace(bare.settings, kv_type_k="f16", kv_type_v="f16"),
        arms=tuple(replace(arm, argv=("--threads", "4")) for arm in bare.arms),
    )
    if number % 3:
        return complete
    origin = Origin(format="inventivehq", sha256="0" * 64, source="s", licence="l")
    engine = replace(engine, runner="imported")
    return replace(complete, tier="imported", origin=origin, engine=engine)
