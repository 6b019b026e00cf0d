"""Convert one GGUF file of the Llama family into two MLX models: a target and a smaller draft.

    PYTHONPATH=build/mlx/packages .venv/bin/python -m tools.mlx.model FILE.gguf MODELS_DIRECTORY

The file has F32 weights, so nothing is lost. The draft lacks four layers in the middle. It costs an
eighth less, and it differs from the target often enough that some drafts are rejected.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from gguf import GGUFReader
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from tools.mlx.environment import DRAFT, TARGET

Weights = Mapping[str, NDArray[np.float32]]


LEFT_OUT = frozenset({12, 13, 14, 15})
# Names of the same tensors in GGUF and in MLX.
OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}
IN_A_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
CONTROL = 3  # the type of control tokens, such as the end of text


def main(gguf: Path, folder: Path) -> None:
    reader = GGUFReader(gguf)
    weights = {tensor.name: tensor.data for tensor in reader.tensors}
    for name, left_out in ((TARGET, frozenset()), (DRAFT, LEFT_OUT)):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        layers = [at for at in range(_of(reader, "block_count")) if at not in left_out]
        tensors = {k: mx.array(v) for k, v in renamed(reader, weights, layers).items()}
        mx.save_safetensors(str(place / "model.safetensors"), tensors, metadata={"format": "mlx"})
        (place / "config.json").write_text(json.dumps(config(reader, len(layers))), "utf-8")
        write_tokenizer(reader, place)


def renamed(reader: GGUFReader, weights: Weights, layers: list[int]) -> Weights:
    """Rename the tensors of these layers, renumbered from 0, and the tensors outside the layers."""
    found = {new: weights[old] for old, new in OUTSIDE.items()}
    heads = {"attn_q": "attention.head_count", "attn_k": "attention.head_count_kv"}
    for new_at, at in enumerate(layers):
        for old, new in IN_A_LAYER.items():
            values = weights[f"blk.{at}.{old}.weight"]
            if old in heads:
                values = rotated(values, _of(reader, heads[old]))
            found[f"model.layers.{new_at}.{new}.weight"] = values
    return found


def rotated(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Reorder each head's rows into halves; GGUF stores rotary pairs as neighbours."""
    rows, columns = values.shape
    pairs = values.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def config(reader: GGUFReader, layers: int) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": layers,
        "hidden_size": _of(reader, "embedding_length"),
        "intermediate_size": _of(reader, "feed_forward_length"),
        "num_attention_heads": _of(reader, "attention.head_count"),
        "num_key_value_heads": _of(reader, "attention.head_count_kv"),
        "rms_norm_eps": _of(reader, "attention.layer_norm_rms_epsilon"),
        "rope_theta": _of(reader, "rope.freq_base"),
        "max_position_embeddings": _of(reader, "context_length"),
        "vocab_size": len(_field(reader, "tokenizer.ggml.tokens")),
        "eos_token_id": _field(reader, "tokenizer.ggml.eos_token_id"),
        "tie_word_embeddings": True,
    }


def write_tokenizer(reader: GGUFReader, place: Path) -> None:
    tokens = _field(reader, "tokenizer.ggml.tokens")
    kinds = _field(reader, "tokenizer.ggml.token_type")
    merges = [tuple(each.split(" ")) for each in _field(reader, "tokenizer.ggml.merges")]
    made = Tokenizer(models.BPE(vocab={text: at for at, text in enumerate(tokens)}, merges=merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    made.decoder = decoders.ByteLevel()
    special = [text for text, kind in zip(tokens, kinds, strict=True) if kind == CONTROL]
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    made.save(str(place / "tokenizer.json"))
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[_field(reader, "tokenizer.ggml.bos_token_id")],
        "eos_token": tokens[_field(reader, "tokenizer.ggml.eos_token_id")],
        "chat_template": _field(reader, "tokenizer.chat_template"),
    }
    (place / "tokenizer_config.json").write_text(json.dumps(about), "utf-8")


def _of(reader: GGUFReader, name: str) -> Any:  # noqa: ANN401 - whatever the file has there
    return _field(reader, f"llama.{name}")


def _field(reader: GGUFReader, name: str) -> Any:  # noqa: ANN401 - whatever the file has there
    return reader.fields[name].contents()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
