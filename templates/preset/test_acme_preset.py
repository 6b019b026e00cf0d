"""The preset is found by every way to write its name."""

import pytest

from answers.presets import preset_named


@pytest.mark.parametrize("name", ["acme-8b", "Acme 8B", "acme-8b:Q4_K_M", "acme/Acme-8B-Instruct"])
def test_the_preset_has_its_names(name: str) -> None:
    found = preset_named(name)

    assert found is not None
    assert found.reference == "acme/Acme-8B-Instruct-GGUF:Q4_K_M"
