"""Every query of the pipeline is a fixed text without formatted values."""

import ast
from pathlib import Path

import pipeline

FILES = sorted(Path(pipeline.__file__).parent.rglob("*.py"))
QUERYING = {"execute", "executemany", "sql", "query", "from_query", "filter", "aggregate"}
BUILT = (ast.JoinedStr, ast.BinOp)


def built_queries(text: str) -> list[int]:
    """The lines on which a query is built instead of named, bound or written out."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in QUERYING and node.args and _is_built(node.args[0])
    ]


def test_no_query_has_a_value_formatted_into_it() -> None:
    found = {
        path.name: lines for path in FILES if (lines := built_queries(path.read_text("utf-8")))
    }

    assert len(FILES) > 30
    assert found == {}


def test_a_formatted_query_would_be_found() -> None:
    wrong = (
        'c.execute(f"select {x}")',
        'c.sql("select " + x)',
        'c.execute("select %s" % x)',
        'c.query("select {}".format(x))',
    )
    right = ('c.execute("select $x", {"x": x})', "c.execute(text, given)")

    assert [built_queries(line) for line in wrong] == [[1]] * 4
    assert [built_queries(line) for line in right] == [[], []]


def _is_built(query: ast.expr) -> bool:
    formatted = isinstance(query, ast.Call) and isinstance(query.func, ast.Attribute)
    return isinstance(query, BUILT) or (
        formatted and isinstance(query.func, ast.Attribute) and query.func.attr == "format"
    )
