"""JSON inside a page remains unchanged data for any content."""

import json
import math

import pytest

from pipeline.site.pages.template_environment import compact_json, environment

HOSTILE = {
    "text": "</script><script>boom()</script> <!-- --> ]]> &lt;b&gt; \u2028 \u2029 שלום",
    "quotes": '\\u003c " \\',
    "</script>": ["<", {"&": None}],
}


def test_nothing_in_it_can_end_or_open_an_element() -> None:
    text = compact_json(HOSTILE)

    assert not set("<>&\u2028\u2029") & set(text)
    assert compact_json("</a>&\u2028") == '"\\u003c/a\\u003e\\u0026\\u2028"'


def test_it_is_read_back_as_it_was() -> None:
    assert json.loads(compact_json(HOSTILE)) == HOSTILE


def test_a_template_does_not_escape_it_again() -> None:
    rendered = environment().from_string("<script>{{ value | compact_json }}</script>")

    assert rendered.render(value={"a": "<&"}) == '<script>{"a":"\\u003c\\u0026"}</script>'


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf]])
def test_values_that_json_cannot_represent_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        compact_json(value)
