"""Converts a shipped GGUF to a checkpoint and a tokenizer, to continue training after environment texts changed."""

import argparse
import json
from pathlib import Path

import gguf
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

import checkpoint
import gguf_file
from model import ModelConfig, Qwen3
from tokenizer import CONTROL_TOKENS, QWEN2_SPLIT, pre_tokenizer, save


def config_of(reader: gguf.GGUFReader) -> ModelConfig:
    """The sizes of a file written by `gguf_file.write`."""

    def value(key: str) -> float:
        return reader.fields[f'qwen3.{key}'].contents()

    return ModelConfig(
        vocab_size=value('vocab_size'),
        hidden_size=value('embedding_length'),
        num_layers=value('block_count'),
        num_heads=value('attention.head_count'),
        num_kv_heads=value('attention.head_count_kv'),
        head_dim=value('attention.key_length'),
        ffn_size=value('feed_forward_length'),
        rope_theta=value('rope.freq_base'),
        rms_norm_eps=value('attention.layer_norm_rms_epsilon'),
        context_length=value('context_length'),
    )


def tokenizer_of(reader: gguf.GGUFReader) -> Tokenizer:
    """The tokenizer of such a file, whose own training is not in it."""
    tokens = reader.fields['tokenizer.ggml.tokens'].contents()
    types = reader.fields['tokenizer.ggml.token_type'].contents()
    merges = reader.fields['tokenizer.ggml.merges'].contents()
    filled = {
        token: index
        for index, (token, kind) in enumerate(zip(tokens, types, strict=True))
        if kind != gguf.TokenType.UNUSED
    }
    opened = Tokenizer(models.BPE(vocab=filled, merges=[tuple(merge.split(' ')) for merge in merges]))
    opened.normalizer = normalizers.NFC()
    opened.pre_tokenizer = pre_tokenizer(QWEN2_SPLIT)
    opened.decoder = decoders.ByteLevel()
    added = [
        AddedToken(token, special=token in CONTROL_TOKENS, normalized=False)
        for token, index in filled.items()
        if types[index] in (gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED)
    ]
    opened.add_tokens(added)
    return opened


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--model', type=Path, required=True, help='GGUF file that export.py wrote')
    parser.add_argument('--checkpoint', type=Path, required=True, help='where its weights go')
    parser.add_argument('--tokenizer', type=Path, required=True, help='folder that its tokenizer goes to')
    arguments = parser.parse_args()
    reader = gguf.GGUFReader(str(arguments.model))
    config = config_of(reader)
    model = Qwen3(config)
    model.load_state_dict(gguf_file.read_weights(arguments.model, config.num_layers))
    checkpoint.save(arguments.checkpoint, model, None, {})
    template = reader.fields['tokenizer.chat_template'].contents()
    opened = tokenizer_of(reader)
    save(opened, arguments.tokenizer, template)
    print(json.dumps({'config': config.as_dict(), 'entries': opened.get_vocab_size()}))


if __name__ == '__main__':
    main()
