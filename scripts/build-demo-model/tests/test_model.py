import numpy as np
import pytest
import torch

from copy_documents import DIGIT_IDS, FIRST_FREE_ID, KINDS, Difficulty, document
from copying import accuracies
from induction_init import code_width, induction_start
from model import ModelConfig, Qwen3
from sizes import TINY


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


def test_the_placed_circuit_copies_before_any_training_and_random_weights_do_not():
    config = ModelConfig()
    placed, random = accuracies(induction_start(config), rows=2), accuracies(Qwen3(config), rows=2)
    assert placed['repeats'] > 0.8 and placed['spans'] > 0.8 and placed['lookups'] > 0.6 and placed['tables'] > 0.6
    assert max(random.values()) < 0.05


def test_copying_needs_both_layers_of_the_circuit():
    model = induction_start(ModelConfig())
    for layer in (0, 2):
        output = model.model.layers[layer].self_attn.o_proj.weight
        kept = output.detach().clone()
        torch.nn.init.zeros_(output)
        assert accuracies(model, rows=1)['repeats'] < 0.05
        with torch.no_grad():
            output.copy_(kept)


def test_the_first_layer_writes_the_previous_tokens_code():
    model, width = induction_start(ModelConfig()), code_width(ModelConfig())
    ids = torch.randint(9, 2048, (1, 200), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        block, codes = model.model.layers[0], model.model.embed_tokens(ids)
        cos, sin = model.cos[:200, None], model.sin[:200, None]
        written = block.self_attn(block.input_layernorm(codes), cos, sin)[0, 1:, width + 1 : 2 * width + 1]
        previous = codes[0, :-1, :width]
        likeness = torch.nn.functional.cosine_similarity(written, previous)
    assert likeness.min() > 0.8


def test_the_seed_fixes_the_start_and_a_config_without_room_is_refused():
    first, again, other = (induction_start(ModelConfig(), seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first['model.embed_tokens.weight'], other['model.embed_tokens.weight'])
    with pytest.raises(ValueError, match='no room'):
        induction_start(TINY)


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
