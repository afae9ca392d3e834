import numpy as np
import pytest
import torch
from sizes import TINY

from copy_documents import DIGIT_IDS, FIRST_FREE_ID, KINDS, Difficulty, document
from induction_init import place_induction
from model import ModelConfig, Qwen3
from pretrain import accuracies


def test_logits_equal_transformers_qwen3():
    transformers = pytest.importorskip('transformers')
    theirs = transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(
            vocab_size=TINY.vocab_size,
            hidden_size=TINY.hidden_size,
            num_hidden_layers=TINY.num_layers,
            num_attention_heads=TINY.num_heads,
            num_key_value_heads=TINY.num_kv_heads,
            head_dim=TINY.head_dim,
            intermediate_size=TINY.ffn_size,
            rms_norm_eps=TINY.rms_norm_eps,
            rope_parameters={'rope_type': 'default', 'rope_theta': TINY.rope_theta},
            tie_word_embeddings=True,
        )
    ).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    ours = Qwen3(TINY)
    ours.load_state_dict({name: value for name, value in theirs.state_dict().items() if name != 'lm_head.weight'})
    ids = torch.randint(0, TINY.vocab_size, (2, 100), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=2e-4, rtol=0)


def test_the_placed_circuit_copies_before_any_training():
    model = Qwen3(ModelConfig())
    assert accuracies(model, Difficulty(96, 20, 4), rows=2)['echoes'] < 0.05
    place_induction(model)
    assert accuracies(model, Difficulty(96, 20, 4), rows=2)['echoes'] > 0.5


@pytest.mark.parametrize('kind', KINDS)
def test_predictable_tokens_stand_in_the_document_before(kind):
    for seed in range(5):
        ids, weights = document(np.random.default_rng(seed), kind, 2048, Difficulty(256, 30, 6))
        assert len(ids) == len(weights) == 256 and ids.min() >= FIRST_FREE_ID and weights.sum() > 10
        assert all(ids[position] in ids[:position] for position in np.flatnonzero(weights))


def test_digit_ids_are_the_tokenizers_digits():
    from tokenizer import train

    tokenizer = train(iter(['hello 0123456789']), 300)
    assert [tokenizer.token_to_id(str(digit)) for digit in range(10)] == DIGIT_IDS.tolist()
