"""The engines that a question can be about, the files that they load, and how a name implies them.

An id is that of `answers.kinds.engine_kind`.
"""

import re
from collections.abc import Mapping

import msgspec

from answers.engine_commands import MLX_LM, SGLANG, VLLM
from answers.names import ModelRef
from schemas.rig import LLAMA_CPP


class ServedEngine(msgspec.Struct, frozen=True, kw_only=True):
    """An engine: its name in a command line, and the usual quantisations, the largest first.

    `forms` matches the quantisations of files that only this engine loads. `options` are the names
    of its options for the context and for the number of cards that share each layer.
    """

    server: str
    quantisations: tuple[str, ...]
    forms: str = "(?!)"  # matches nothing
    options: tuple[str, str] | None = None

    def load_words(self, context: int, cards: int) -> list[str]:
        """The arguments for a context and a number of cards; llama.cpp's are in `commands`."""
        if self.options is None:
            return []
        tokens, split = self.options
        return [tokens, str(context), *([split, str(cards)] if cards > 1 else [])]


_GGUF = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "Q2_K")
_SAFETENSORS = ("BF16", "FP8", "AWQ")
ENGINES: Mapping[str, ServedEngine] = {
    LLAMA_CPP: ServedEngine(server=LLAMA_CPP, quantisations=_GGUF, forms=r"(UD-)?(I?Q|TQ)\d.*"),
    "vllm": ServedEngine(
        server=VLLM,
        quantisations=_SAFETENSORS,
        forms=r"AWQ|GPTQ|FP8|MXFP[68]|NVFP4A16|W\d+A\d+|INT[48].*",
        options=("--max-model-len", "--tensor-parallel-size"),
    ),
    "sglang": ServedEngine(
        server=SGLANG, quantisations=_SAFETENSORS, options=("--context-length", "--tp-size")
    ),
    "mlx": ServedEngine(
        server=MLX_LM,
        quantisations=("MLX 8-bit", "MLX 6-bit", "MLX 4-bit"),
        forms=r"MLX.*|\d-bit|oQ\d",
    ),
    "ollama": ServedEngine(server="Ollama", quantisations=_GGUF),
}
_ALIKE = {"ik_llama.cpp": LLAMA_CPP, "koboldcpp": LLAMA_CPP, "lm-studio": LLAMA_CPP}
_WORDS = {"gguf": LLAMA_CPP, "mlx": "mlx"}


def engine_named(name: str) -> str | None:
    """The id of the engine that verifies as this one does; `None` if it cannot be planned."""
    return name if name in ENGINES else _ALIKE.get(name)


def implied_engine(ref: ModelRef) -> str | None:
    """The engine that a model's quantisation or the kind of its file implies."""
    for name, engine in ENGINES.items():
        if re.fullmatch(engine.forms, ref.quantisation or ""):
            return name
    return next((name for word, name in _WORDS.items() if word in ref.written.lower()), None)
