"""The demo model as a GGUF file: our own writer, because llama.cpp's converter refuses home-made tokenizers."""

import json
import os
from pathlib import Path

import gguf
import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from model import ModelConfig
from tokenizer import CONTROL_TOKENS, END_OF_TEXT, END_OF_TURN

LAYER_TENSORS = {
    'input_layernorm': 'attn_norm',
    'self_attn.q_proj': 'attn_q',
    'self_attn.k_proj': 'attn_k',
    'self_attn.v_proj': 'attn_v',
    'self_attn.q_norm': 'attn_q_norm',
    'self_attn.k_norm': 'attn_k_norm',
    'self_attn.o_proj': 'attn_output',
    'post_attention_layernorm': 'ffn_norm',
    'mlp.gate_proj': 'ffn_gate',
    'mlp.up_proj': 'ffn_up',
    'mlp.down_proj': 'ffn_down',
}


def tensor_names(num_layers: int) -> dict[str, str]:
    """transformers' Qwen3 names to GGUF names; the head is tied, so there is no output tensor."""
    names = {'model.embed_tokens.weight': 'token_embd.weight', 'model.norm.weight': 'output_norm.weight'}
    for layer in range(num_layers):
        for theirs, ours in LAYER_TENSORS.items():
            names[f'model.layers.{layer}.{theirs}.weight'] = f'blk.{layer}.{ours}.weight'
    return names


def token_table(tokenizer: Tokenizer, vocab_size: int) -> tuple[list[str], list[int]]:
    """Token texts and GGUF token types for every row of the table; rows the tokenizer leaves empty become UNUSED."""
    by_id = {index: token for token, index in tokenizer.get_vocab(with_added_tokens=True).items()}
    if max(by_id) >= vocab_size:
        raise ValueError(f'the tokenizer has id {max(by_id)}, the table only {vocab_size} rows')
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    tokens, types = [], []
    for index in range(vocab_size):
        token = by_id.get(index)
        if token is None:
            tokens.append(f'[UNUSED{index}]')
            types.append(gguf.TokenType.UNUSED)
            continue
        tokens.append(token)
        if token in CONTROL_TOKENS:
            types.append(gguf.TokenType.CONTROL)
        else:
            types.append(gguf.TokenType.USER_DEFINED if token in added else gguf.TokenType.NORMAL)
    return tokens, [int(kind) for kind in types]


def write(
    path: Path,
    config: ModelConfig,
    weights: dict[str, Tensor],
    tokenizer: Tokenizer,
    chat_template: str,
    name: str,
    dtype: torch.dtype = torch.float16,
) -> None:
    """
    Writes matrices in `dtype` (float16 or float32) and vectors in float32; replaces `path` atomically.

    @param weights  transformers' names, exactly those of `tensor_names`
    """
    names = tensor_names(config.num_layers)
    if weights.keys() != names.keys():
        raise ValueError(f'unexpected or missing weights: {sorted(weights.keys() ^ names.keys())}')
    temporary = path.with_suffix('.tmp')
    writer = gguf.GGUFWriter(str(temporary), 'qwen3')
    writer.add_name(name)
    writer.add_license('Apache-2.0')
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if dtype == torch.float16 else gguf.LlamaFileType.ALL_F32)
    writer.add_block_count(config.num_layers)
    writer.add_context_length(config.context_length)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.ffn_size)
    writer.add_head_count(config.num_heads)
    writer.add_head_count_kv(config.num_kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_vocab_size(config.vocab_size)

    tokens, types = token_table(tokenizer, config.vocab_size)
    merges = json.loads(tokenizer.to_str())['model']['merges']
    writer.add_tokenizer_model('gpt2')
    writer.add_tokenizer_pre('qwen2')
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([merge if isinstance(merge, str) else ' '.join(merge) for merge in merges])
    writer.add_eos_token_id(tokenizer.token_to_id(END_OF_TURN))
    writer.add_bos_token_id(tokenizer.token_to_id(END_OF_TEXT))
    writer.add_pad_token_id(tokenizer.token_to_id(END_OF_TEXT))
    writer.add_add_bos_token(False)
    writer.add_chat_template(chat_template)

    for theirs, ours in names.items():
        tensor = weights[theirs].detach().float()
        array = tensor.to(dtype if tensor.ndim == 2 else torch.float32).numpy()
        if not np.isfinite(array).all():
            raise ValueError(f'{theirs} does not fit {dtype}')
        writer.add_tensor(ours, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(temporary, path)


def read_weights(path: Path, num_layers: int) -> dict[str, Tensor]:
    """The weights of a file written by `write`, as float32, under transformers' names."""
    ours_to_theirs = {ours: theirs for theirs, ours in tensor_names(num_layers).items()}
    reader = gguf.GGUFReader(str(path))
    return {
        ours_to_theirs[tensor.name]: torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        for tensor in reader.tensors
    }
