"""A trained head for speculation is gigabytes; this one has the same form and known answers.

`mtp` is a model of two layers that repeats the last token, with a built-in head that does the same:
all its proposals are right.
"""

from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from numpy.typing import NDArray

from harness.models.gguf_file import opened
from tests.harness.ggufs import add_fields, raw_fields, written

Weights = NDArray[np.float32]


_INNER = 64
_TINY, _TINY_HEAD, _STATE = 64, 32, 16
_RECURRENT = {
    "conv_kernel": 4,
    "inner_size": _STATE,
    "state_size": _STATE,
    "time_step_rank": 1,
    "group_count": 1,
}


def mtp(path: Path, vocabulary: Path) -> Path:
    """A model of Qwen3.5's kind that repeats its last token, with a head that does so, too."""
    writer = GGUFWriter(path, "qwen35")
    tokens = _size_vocabulary(writer, vocabulary)
    _sizes(writer, width=_TINY, heads=2, kv_heads=1)
    writer.add_block_count(3)
    writer.add_key_length(_TINY_HEAD)
    writer.add_value_length(_TINY_HEAD)
    writer.add_rope_dimension_count(_TINY_HEAD)
    writer.add_rope_dimension_sections([4, 4, 4, 4])
    for name, value in _RECURRENT.items():
        writer.add_uint32(f"qwen35.ssm.{name}", value)
    writer.add_uint32("qwen35.full_attention_interval", 2)
    writer.add_uint32("qwen35.nextn_predict_layers", 1)
    embedded = np.random.default_rng(1).normal(size=(tokens, _TINY)).astype(np.float32)
    writer.add_tensor("token_embd.weight", embedded)
    writer.add_tensor("output_norm.weight", _ones(_TINY))
    _recurrent(writer, "blk.0")
    _attention(writer, "blk.1")
    _attention(writer, "blk.2")
    for layer in ("blk.0", "blk.1", "blk.2"):
        writer.add_tensor(f"{layer}.attn_norm.weight", _ones(_TINY))
        writer.add_tensor(f"{layer}.post_attention_norm.weight", _ones(_TINY))
        _feed_forward(writer, layer, _TINY)
    joined = np.concatenate([np.eye(_TINY), np.zeros((_TINY, _TINY))], axis=1)
    writer.add_tensor("blk.2.nextn.eh_proj.weight", joined.astype(np.float32))
    for name in ("enorm", "hnorm", "shared_head_norm"):
        writer.add_tensor(f"blk.2.nextn.{name}.weight", _ones(_TINY))
    return _written(writer, path, vocabulary)


def _recurrent(writer: GGUFWriter, layer: str) -> None:
    writer.add_tensor(f"{layer}.attn_qkv.weight", _zeros(3 * _STATE, _TINY))
    writer.add_tensor(f"{layer}.attn_gate.weight", _zeros(_STATE, _TINY))
    writer.add_tensor(f"{layer}.ssm_conv1d.weight", _zeros(3 * _STATE, 4))
    writer.add_tensor(f"{layer}.ssm_dt.bias", _zeros(1))
    writer.add_tensor(f"{layer}.ssm_a", -_ones(1))
    writer.add_tensor(f"{layer}.ssm_beta.weight", _zeros(1, _TINY))
    writer.add_tensor(f"{layer}.ssm_alpha.weight", _zeros(1, _TINY))
    writer.add_tensor(f"{layer}.ssm_norm.weight", _ones(_STATE))
    writer.add_tensor(f"{layer}.ssm_out.weight", _zeros(_TINY, _STATE))


def _attention(writer: GGUFWriter, layer: str) -> None:
    writer.add_tensor(f"{layer}.attn_q.weight", _zeros(4 * _TINY_HEAD, _TINY))
    writer.add_tensor(f"{layer}.attn_k.weight", _zeros(_TINY_HEAD, _TINY))
    writer.add_tensor(f"{layer}.attn_v.weight", _zeros(_TINY_HEAD, _TINY))
    writer.add_tensor(f"{layer}.attn_output.weight", _zeros(_TINY, 2 * _TINY_HEAD))
    for name in ("attn_q_norm", "attn_k_norm"):
        writer.add_tensor(f"{layer}.{name}.weight", _ones(_TINY_HEAD))


def _feed_forward(writer: GGUFWriter, layer: str, width: int) -> None:
    writer.add_tensor(f"{layer}.ffn_gate.weight", _zeros(_INNER, width))
    writer.add_tensor(f"{layer}.ffn_up.weight", _zeros(_INNER, width))
    writer.add_tensor(f"{layer}.ffn_down.weight", _zeros(width, _INNER))


def _sizes(writer: GGUFWriter, *, width: int, heads: int, kv_heads: int) -> None:
    writer.add_name("A head of known answers")
    writer.add_context_length(8192)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_freq_base(1e5)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(0)


def _size_vocabulary(writer: GGUFWriter, source: Path) -> int:
    """Set the size of the vocabulary, which is added when the file is written."""
    tokens = len(opened(source).texts("tokenizer.ggml.tokens"))
    writer.add_vocab_size(tokens)
    return tokens


def _ones(size: int) -> Weights:
    return np.ones(size, dtype=np.float32)


def _zeros(*shape: int) -> Weights:
    return np.zeros(shape, dtype=np.float32)


def _written(writer: GGUFWriter, path: Path, vocabulary: Path) -> Path:
    """Write the file, with the tokenizer of another file."""
    fields = raw_fields(vocabulary.read_bytes())
    tokenizer = {name: each for name, each in fields.items() if "tokenizer.ggml." in name}
    return add_fields(written(writer, path), tokenizer)
