"""Build the method of an imported arm, and its draft model, from the file and `--map`."""

from collections.abc import Iterable, Mapping
from functools import cache

from harness.campaign.method_parser import parameters as parameters_in
from harness.errors import BadInputError, suggestion
from harness.imports.foreign_names import id_of, weights_in
from harness.imports.needed_facts import ImportedFacts
from schemas import vocabulary
from schemas.method import Method, method_with
from schemas.model_sizes import parameters_of, size_in
from schemas.submission import Model
from schemas.validator import SUBMISSION_SCHEMA, schema

# Methods of servers, and methods chosen by name; all others are controls of our own loop.
METHODS = [
    entry.id
    for entry in vocabulary.METHODS.values()
    if "openai" in entry.runners or not entry.runners
]

# Maps each draft type in llama-server's logs and tables to a method.
_BY_TYPE = {
    word: entry.id
    for entry in vocabulary.METHODS.values()
    for word in (
        *(entry.llama_cpp.types if entry.llama_cpp else ()),
        *([entry.ik_llama_cpp.type] if entry.ik_llama_cpp else ()),
    )
}


def method_of(types: Iterable[str]) -> str | None:
    """Translate draft types into a value for `--map method=`; several types make a chain.

    Returns `None` if a type is unknown or no type is given.
    """
    words = [_BY_TYPE.get(word.replace("_", "-")) for word in types]
    chain = "+".join(filter(None, words))
    if not words or None in words:
        return None
    return words[0] if len(words) == 1 else f"other:name={chain},chain={chain}"


@cache
def parameters(kind: str) -> Mapping[str, bool]:
    """Return the parameters that the format allows for a method, and whether each is required."""
    definitions = schema(SUBMISSION_SCHEMA)["$defs"]
    for branch in definitions["method"]["allOf"]:
        condition = branch["if"]["properties"]["type"]
        if kind in condition.get("enum", [condition.get("const")]):
            node = definitions[branch["then"]["$ref"].rpartition("/")[2]]
            return {name: name in node["required"] for name in node["properties"] if name != "type"}
    raise KeyError(kind)


def method(
    text: str | None, facts: ImportedFacts, missing: list[str]
) -> tuple[Method, Model | None]:
    """Return the method that `text` describes, and its draft model if it has one.

    Facts that the method needs are added to `missing`, with placeholders in the method. Raises
    `BadInputError` for an unknown method.
    """
    kind, _, rest = (text or "other:name=unknown").partition(":")
    missing += [] if text else ["method"]
    if kind not in METHODS:
        raise BadInputError(
            f"--map method={text!r}: no such method.{suggestion(kind, METHODS)} For any other "
            f"method, write other:name={id_of(kind)}"
        )
    allowed, draft = parameters(kind), None
    try:
        values = parameters_in(kind, rest, known=allowed)
    except BadInputError as error:
        raise BadInputError(f"--map method={text!r}: {error}") from error
    if "n_max" in allowed and facts.n_max is not None:
        values.setdefault("n_max", facts.n_max)
    named = values.pop("draft", facts.draft)
    if "draft" in allowed and (named is not None or allowed["draft"]):
        draft = _draft(str(named or ""), facts, missing)
        values["draft"] = draft.id
    for name in (name for name, required in allowed.items() if required and name not in values):
        missing.append(name if name == "n_max" else "method")
        values[name] = "unknown" if name == "name" else 1
    return method_with(kind, values), draft


def _draft(stated: str, facts: ImportedFacts, missing: list[str]) -> Model:
    name, quantisation = weights_in(stated)
    quantisation = quantisation or facts.draft_quantisation
    missing += [] if name else ["draft"]
    missing += [] if quantisation else ["draft_quantisation"]
    name, quantisation = name or "", quantisation or ""
    return Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=parameters_of(facts.draft_parameters or size_in(name)),
    )
