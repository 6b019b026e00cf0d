"""Read the ways to draft that an engine's source or help lists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from schemas.vocabulary.documents import document
from schemas.vocabulary.engine_choices import CHOICES, measured_as

STORED = document("engine_choices", "tests.data")
CONTROL = "none"  # plain decoding


def unknown(engine: str, choices: Iterator[str] | set[str]) -> set[str]:
    """The choices that the vocabulary neither measures nor refuses by name."""
    refused = CHOICES[engine].refused
    return {each for each in choices if not measured_as(engine, each)} - {*refused, CONTROL}


def of_help(text: str) -> set[str]:
    """The types in a llama-server's help, of llama.cpp or of ik_llama.cpp."""
    listed = re.search(r"--spec-type (none,\S+)|types: (none, [\w, -]+)", text)
    return set(re.split(r",\s*", listed[1] or listed[2].rstrip(" ,"))) if listed else set()


def of_vllm(source: Path) -> set[str]:
    """The strings in `SpeculativeMethod` of vLLM's module `config.speculative`."""
    assigned = {
        each.targets[0].id: each.value
        for each in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }

    def strings(name: str) -> Iterator[str]:
        for node in ast.walk(assigned[name]):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.Name) and node.id in assigned:
                yield from strings(node.id)

    return set(strings("SpeculativeMethod"))
