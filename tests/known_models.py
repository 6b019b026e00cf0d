"""The shapes of models that tests plan by name."""

from planner.model import ModelFacts
from planner.model_names import quantisation_of
from planner.names import read_model
from planner.shapes import facts_of, shape_of


def known(name: str, quantisation: str = "Q4_K_M", *, with_head: bool = False) -> ModelFacts:
    shape = shape_of(read_model(name).slug)
    assert shape is not None
    return facts_of(shape, quantisation_of(quantisation), with_head=with_head)
