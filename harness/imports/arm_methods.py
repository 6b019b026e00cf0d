"""Build the method of an imported arm, and its draft model, from the file and `--map`."""

from collections.abc import Iterable, Mapping
from functools import cache

from harness.campaign.method_parser import Value
from harness.campaign.method_parser import parameters as parameters_in
from harness.errors import BadInputError, suggestion
from harness.imports.foreign_names import id_of, weights_in
from harness.imports.needed_facts import ImportedFacts
from schemas import vocabulary
from schemas.method import Method, method_with
from schemas.submission import Model
from schemas.validator import SUBMISSION_SCHEMA, schema
from schemas.weights import parameters_of, size_in

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
    known = [word for word in words if word is not None]
    if not known or len(known) < len(words):
        return None
    chain = "+".join(known)
    return known[0] if len(known) == 1 else f"other:name={chain},chain={chain}"


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

    Raises `BadInputError` for an unknown method.
    """
    if text is None:
        missing.append("method")
        text = "other:name=unknown"
    kind, _, rest = text.partition(":")
    if kind not in METHODS:
        raise BadInputError(
            f"--map method={text!r}: no such method.{suggestion(kind, METHODS)} For any other "
            f"method, write other:name={id_of(kind)}"
        )
    try:
        given = parameters_in(kind, rest, known=parameters(kind))
    except BadInputError as error:
        raise BadInputError(f"--map method={text!r}: {error}") from error
    return _built(kind, given, facts, missing)


def _built(
    kind: str, given: Mapping[str, Value], facts: ImportedFacts, missing: list[str]
) -> tuple[Method, Model | None]:
    """Build a method from `given`; add absent parameters to `missing` and use placeholders."""
    allowed, values, draft = parameters(kind), dict(given), None
    if "n_max" in allowed and "n_max" not in values and facts.n_max is not None:
        values["n_max"] = facts.n_max
    if "draft" in allowed:
        draft = _draft(values.pop("draft", None), facts, missing, needed=allowed["draft"])
        values |= {"draft": draft.id} if draft else {}
    for name, required in allowed.items():
        if required and name not in values:
            missing.append(name if name == "n_max" else "method")
            values[name] = "unknown" if name == "name" else 1
    return method_with(kind, values), draft


def _draft(
    named: object, facts: ImportedFacts, missing: list[str], *, needed: bool
) -> Model | None:
    stated = str(named) if named is not None else facts.draft
    if stated is None and not needed:
        return None
    name, quantisation = weights_in(stated or "")
    quantisation = quantisation or facts.draft_quantisation
    fields = {"draft": name, "draft_quantisation": quantisation}
    missing += [key for key, value in fields.items() if value is None]
    name, quantisation = name or "", quantisation or ""
    return Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=parameters_of(facts.draft_parameters or size_in(name)),
    )
