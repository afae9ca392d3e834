import shutil

import gguf
import numpy as np
import pytest
import torch

import export
import gguf_file
from model import Qwen3
from sizes import TINY
from tokenizer import ADDED_TOKENS, CONTROL_TOKENS, read_corpus, save, train

TEXTS = ['<|im_start|>user\nPay 17.50 from "savings-kx".<|im_end|>', '{"name":"pay","arguments":{"account":"a17"}}'] * 5
TEMPLATE = '{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}'


@pytest.fixture(scope='module')
def tokenizer():
    return train(iter(TEXTS), TINY.vocab_size)


def random_model() -> Qwen3:
    model = Qwen3(TINY)
    with torch.no_grad():
        for parameter in model.parameters():
            generator = torch.Generator().manual_seed(parameter.numel())
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return model


def test_any_text_survives_the_tokenizer(tokenizer):
    for text in [*TEXTS, *export.PROBE_TEXTS, 'a\r\n  b\t\x00€𝄞']:
        normalised = tokenizer.normalizer.normalize_str(text)
        assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == normalised


def test_digits_stay_single_and_chat_tokens_whole(tokenizer):
    assert tokenizer.encode('2026').tokens == ['2', '0', '2', '6']
    for index, token in enumerate(CONTROL_TOKENS + ADDED_TOKENS):
        assert tokenizer.encode(token).ids == [index]
    assert tokenizer.decode(tokenizer.encode('<|im_end|><think>').ids, skip_special_tokens=True) == '<think>'


def test_chat_tokens_in_the_corpus_cost_no_merges(tmp_path):
    corpus = tmp_path / 'corpus.jsonl'
    corpus.write_text('{"text": "<|im_start|>user<|im_end|>\\n<tool_call>x</tool_call>"}\n')
    assert list(read_corpus(corpus)) == ['user', '\n', 'x']


def test_a_tokenizer_larger_than_the_table_is_refused(tokenizer):
    with pytest.raises(ValueError, match='the tokenizer has id'):
        gguf_file.token_table(tokenizer, tokenizer.get_vocab_size() - 1)


def test_rows_without_a_token_are_marked_unused(tokenizer):
    tokens, types = gguf_file.token_table(tokenizer, TINY.vocab_size)
    filled = tokenizer.get_vocab_size()
    assert filled < TINY.vocab_size == len(tokens) == len(set(tokens))
    assert set(types[filled:]) == {gguf.TokenType.UNUSED}
    assert types[:9] == [gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.USER_DEFINED] * 6


def test_weights_read_back_from_the_file_are_the_rounded_ones(tokenizer, tmp_path):
    model = random_model()
    gguf_file.write(tmp_path / 'm.gguf', TINY, model.state_dict(), tokenizer, TEMPLATE, 'test')
    read = gguf_file.read_weights(tmp_path / 'm.gguf', TINY.num_layers)
    for name, value in model.state_dict().items():
        expected = value.half().float() if value.ndim == 2 else value
        assert torch.equal(read[name], expected), name


def test_a_missing_weight_is_refused(tokenizer, tmp_path):
    weights = random_model().state_dict()
    weights.pop('model.norm.weight')
    with pytest.raises(ValueError, match='missing weights'):
        gguf_file.write(tmp_path / 'm.gguf', TINY, weights, tokenizer, TEMPLATE, 'test')


@pytest.mark.skipif(
    shutil.which('node') is None or not export.TSX.exists(), reason='needs Node and npm install'
)
def test_the_engine_reads_the_file_like_torch_and_a_wrong_file_is_noticed(tokenizer, tmp_path):
    path, model = tmp_path / 'm.gguf', random_model()
    gguf_file.write(path, TINY, model.state_dict(), tokenizer, TEMPLATE, 'test')
    sequences = [np.random.default_rng(0).integers(0, tokenizer.get_vocab_size(), 200).tolist()]
    compared = export.check(path, TINY, tokenizer, sequences)
    assert compared['tokens'] == 199 and compared['likely'] > 10 and compared['max_of_likely'] < 0.02

    # The same weights under another rotary base are another model.
    wrong = type(TINY)(**(TINY.as_dict() | {'rope_theta': 100.0}))
    with pytest.raises(export.ExportMismatch):
        export.check(path, wrong, tokenizer, sequences)


def test_transformers_loads_the_saved_tokenizer(tokenizer, tmp_path):
    transformers = pytest.importorskip('transformers')
    save(tokenizer, tmp_path / 'out', TEMPLATE)
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path / 'out')
    rendered = loaded.apply_chat_template([{'role': 'user', 'content': 'Pay 17.50'}], tokenize=True)
    ids = rendered if isinstance(rendered, list) else rendered['input_ids']
    assert ids == tokenizer.encode('<|im_start|>user\nPay 17.50<|im_end|>\n').ids
    assert loaded.eos_token == '<|im_end|>'
