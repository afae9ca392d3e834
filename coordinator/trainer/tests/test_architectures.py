"""
Each architecture that can be trained against transformers: a random model as GGUF, as llama.cpp's converter would write
it, becomes the base; a random adapter goes out as PEFT and GGUF and comes back.

    PYTHONPATH=coordinator/trainer python coordinator/trainer/tests/test_architectures.py FOLDER

writes these models and adapters with a vocabulary, and what the trainer says of some tokens, for
test/proc/architectures.test.ts.
"""

import json
import math
import sys
from functools import partial
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from peft import PeftModel
from prove_trainer import export
from prove_trainer.adapter import published_adapter, published_policy
from prove_trainer.architectures import ARCHITECTURES, RowOrder
from prove_trainer.canary import default_canary, score_canaries
from prove_trainer.config import Canary, LoraSettings, TrainerConfig
from prove_trainer.errors import TrainerError
from prove_trainer.gguf_base import BLOCK_NAMES, build_model, load_base
from prove_trainer.jobs import sha256_file
from prove_trainer.packing import Segment
from prove_trainer.policy import new_policy
from prove_trainer.reference import Reference, StoredAdapter
from transformers import (
    GraniteConfig,
    GraniteForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

Q8_0 = gguf.GGMLQuantizationType.Q8_0
HEADS, KEY_HEADS, VOCAB = 4, 2, 352
SHAPE = dict(
    vocab_size=VOCAB,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=HEADS,
    num_key_value_heads=KEY_HEADS,
    max_position_embeddings=4096,
    rms_norm_eps=1e-6,
    rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
)
# Three of eight pairs of a head are scaled, one in part.
LLAMA_3 = dict(
    rope_type="llama3",
    rope_theta=10_000.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=256,
)
SCALES = dict(embedding_multiplier=3.0, residual_multiplier=0.22, attention_multiplier=0.3, logits_scaling=2.5)
MODELS = {
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SHAPE, head_dim=32, tie_word_embeddings=True)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SHAPE, tie_word_embeddings=False)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, tie_word_embeddings=True)),
    "llama3": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE | dict(rope_parameters=LLAMA_3), tie_word_embeddings=True)),
    "granite": lambda: GraniteForCausalLM(GraniteConfig(**SHAPE, **SCALES, tie_word_embeddings=True)),
    "granite4": lambda: GraniteForCausalLM(GraniteConfig(**SHAPE, **SCALES, tie_word_embeddings=True)),
}
# Models whose files differ from others of their architecture.
VARIANTS = {"llama3": "llama", "granite4": "granite"}
PERMUTED = ("llama", "granite")
LOGITS = 1e-4  # largest difference from transformers on weights that float16 holds exactly
RETURNED = 5e-3  # nats, between an adapter and its float16 in the GGUF


def architecture_of(name: str) -> str:
    return VARIANTS.get(name, name)


def random_model(name: str):
    """Weights that float16 holds exactly, so that nothing is lost on the way."""
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            values = torch.randn_like(parameter) * 0.15 + (parameter.dim() == 1)
            parameter.copy_(values.half().float())
    return model


def permuted(rows: np.ndarray, heads: int) -> np.ndarray:
    """`permute` of llama.cpp's convert_hf_to_gguf.py."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def rope_factors(length: int, rope: dict) -> np.ndarray:
    """`generate_extra_tensors` of llama.cpp's conversion/llama.py."""
    frequencies = 1.0 / (rope["rope_theta"] ** (torch.arange(0, length, 2, dtype=torch.float32) / length))
    context, low, high = rope["original_max_position_embeddings"], rope["low_freq_factor"], rope["high_freq_factor"]
    factors = []
    for frequency in frequencies:
        wave = 2 * math.pi / frequency
        smooth = (context / wave - low) / (high - low)
        part = 1 if wave < context / high else 0 if wave > context / low else smooth
        factors.append(1 / ((1 - part) / rope["factor"] + part))
    return np.array(factors, np.float32)


def write_gguf(path: Path, name: str, vocabulary=None, quantised: bool = False) -> Path:
    model = random_model(name)
    config = model.config
    architecture = architecture_of(name)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS if name != "granite4" else [KEY_HEADS] * config.num_hidden_layers)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    if architecture == "qwen3":
        writer.add_key_length(32)
        writer.add_value_length(32)
    if architecture in PERMUTED:
        writer.add_rope_dimension_count(config.hidden_size // HEADS)
    if architecture == "granite":
        writer.add_embedding_scale(SCALES["embedding_multiplier"])
        writer.add_residual_scale(SCALES["residual_multiplier"])
        writer.add_attention_scale(SCALES["attention_multiplier"])
        writer.add_logit_scale(SCALES["logits_scaling"])
    if name == "granite4":
        writer.add_rope_scaling_finetuned(True)
    if vocabulary:
        vocabulary(writer)
    if name == "llama3":
        writer.add_tensor("rope_freqs.weight", rope_factors(config.hidden_size // HEADS, LLAMA_3))
    outer = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}
    inner = {module: name for name, module in BLOCK_NAMES.items()}
    for name, tensor in model.state_dict().items():
        stem, _, kind = name.removeprefix("model.").rpartition(".")
        if stem == "lm_head" and config.tie_word_embeddings:
            continue
        values = tensor.numpy()
        if stem in outer:
            target = outer[stem]
        else:
            _, layer, module = stem.split(".", 2)
            target = f"blk.{layer}.{inner[module]}"
        if architecture in PERMUTED and target.endswith(("attn_q", "attn_k")):
            values = permuted(values, HEADS if target.endswith("q") else KEY_HEADS)
        if quantised and values.ndim == 2:
            writer.add_tensor(f"{target}.{kind}", gguf.quantize(values, Q8_0), raw_dtype=Q8_0)
        else:
            writer.add_tensor(f"{target}.{kind}", values.astype(np.float16 if values.ndim == 2 else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def random_policy(base):
    policy = new_policy(base, LoraSettings(rank=4, alpha=8), 0, None, None)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for _, parameter in policy.adapter_parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
    return policy


def read(path: Path):
    return load_base(path, sha256_file(path))


@pytest.fixture(scope="module", params=MODELS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def base(name, tmp_path_factory):
    return read(write_gguf(tmp_path_factory.mktemp("base") / "m.gguf", name))


def test_every_architecture_is_looked_at_here():
    assert {architecture_of(name) for name in MODELS} == set(ARCHITECTURES)


def test_the_gguf_as_base_gives_the_logits_of_transformers_plain_and_packed(base, name):
    original = random_model(name)
    ids = torch.arange(30)[None] * 11 % VOCAB
    with torch.no_grad():
        wanted = original(input_ids=ids).logits
        assert (build_model(base)(input_ids=ids).logits - wanted).abs().max() < LOGITS
    canary = default_canary(VOCAB, 64)
    bare = score_canaries(new_policy(base, LoraSettings(rank=1), 0, None, None), [canary], 0.8)[0]
    ids = torch.tensor([canary.prompt + canary.continuation])
    with torch.no_grad():
        logp = torch.log_softmax(original(input_ids=ids).logits[0] / 0.8, -1)
    wanted = [float(logp[len(canary.prompt) - 1 + i, token]) for i, token in enumerate(canary.continuation)]
    assert np.abs(np.array(bare) - np.array(wanted)).max() < LOGITS


def test_a_quantised_gguf_as_base_gives_the_logits_of_its_dequantised_weights(tmp_path, name):
    original = random_model(name)
    with torch.no_grad():
        for parameter in original.parameters():
            if parameter.dim() == 2:
                values = gguf.dequantize(gguf.quantize(parameter.numpy(), Q8_0), Q8_0)
                assert np.abs(values - parameter.numpy()).max() > 0
                parameter.copy_(torch.from_numpy(values))
        ids = torch.arange(30)[None] * 11 % VOCAB
        ours = build_model(read(write_gguf(tmp_path / "m.gguf", name, quantised=True)))(input_ids=ids).logits
        assert (ours - original(input_ids=ids).logits).abs().max() < LOGITS


def test_an_adapter_goes_out_as_peft_and_gguf_and_comes_back(tmp_path, base, name):
    policy = random_policy(base)
    config = TrainerConfig(base_sha256=base.sha256, lora=LoraSettings(rank=4, alpha=8), max_delta_norm=100)
    export.write_adapter(tmp_path, policy, base, config, 1)
    checks = export.check_adapter(tmp_path, policy, base, config)["checks"]
    assert checks["reloadGap"] < 1e-5 and checks["publishedGap"] < RETURNED < checks["adapterGap"] / 10
    ids = torch.arange(30)[None] * 7 % VOCAB
    theirs = PeftModel.from_pretrained(random_model(name), str(tmp_path / "adapter")).eval()
    with torch.no_grad():
        ours = policy.model.get_base_model()(input_ids=ids, segments=(Segment(0, 0, (30,)),))
        assert (theirs(input_ids=ids).logits - ours.logits).abs().max() < LOGITS
    path = tmp_path / "adapter.gguf"
    canary = default_canary(VOCAB, 64)
    trained = score_canaries(policy, [canary], 1.0)
    loaded = published_policy(base, path, sha256_file(path))
    assert export.largest_gap(trained, score_canaries(loaded, [canary], 1.0)) < RETURNED
    with loaded.under(published_adapter(base, loaded, path, sha256_file(path))):
        assert export.largest_gap(trained, score_canaries(loaded, [canary], 1.0)) < RETURNED


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_reference_scores_are_those_of_a_whole_float32_model(tmp_path, base, precision):
    policy = random_policy(base)
    config = TrainerConfig(base_sha256=base.sha256, lora=LoraSettings(rank=4, alpha=8), max_delta_norm=100)
    export.write_adapter(tmp_path, policy, base, config, 1)
    path = tmp_path / "adapter.gguf"
    canaries = [default_canary(VOCAB, 64), Canary((3, 1), (4, 1, 5)), Canary((9,), (2, 6))]
    bare = new_policy(base, LoraSettings(rank=1), 0, None, None)
    adapted = published_policy(base, path, sha256_file(path))
    wanted = [score_canaries(one, canaries, 0.8) for one in (bare, adapted)]
    reference = Reference(base.on(base.device, precision))
    found = [reference.score(canaries, 0.8), reference.score(canaries, 0.8, StoredAdapter.read(path))]
    for ours, theirs in zip(found, wanted, strict=True):
        assert export.largest_gap(ours, theirs) < LOGITS
    assert export.largest_gap(*wanted) > 10 * LOGITS
    assert reference.score(canaries[1:], 0.8) == found[0][1:]


def test_the_table_in_the_docs_names_every_architecture_with_these_bounds():
    text = (Path(__file__).parents[3] / "docs" / "reference" / "trainer.md").read_text(encoding="utf-8")
    table = text.split("## Architectures")[1].split("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    assert [row[1].strip(" `") for row in rows] == list(MODELS)
    assert all([float(cell) for cell in row[3:7]] == [LOGITS, LOGITS, LOGITS, RETURNED] for row in rows)


def test_rows_lie_in_a_granite_gguf_as_llama_cpp_turns_them():
    order = RowOrder("granite", HEADS, KEY_HEADS)
    rows = np.arange(64 * 3.0).reshape(64, 3)
    assert np.array_equal(order.stored("blk.0.attn_q.weight.lora_b", rows), permuted(rows, HEADS))
    assert np.array_equal(order.stored("blk.1.attn_k.weight", rows[:32]), permuted(rows[:32], KEY_HEADS))
    for name in ("blk.0.attn_q.weight.lora_a", "blk.0.attn_v.weight", "blk.0.attn_output.weight.lora_b"):
        assert order.stored(name, rows) is rows
    assert RowOrder("qwen2", HEADS, KEY_HEADS).stored("blk.0.attn_q.weight", rows) is rows
    turned = torch.from_numpy(order.stored("blk.0.attn_q.bias", rows[:, 0]))
    assert np.array_equal(order.read("blk.0.attn_q.bias", turned).numpy(), rows[:, 0])


def test_a_model_with_rows_that_its_heads_do_not_share_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "HEADS", 4)
    path = write_gguf(tmp_path / "m.gguf", "granite")
    data = path.read_bytes()
    key = b"granite.attention.head_count"
    at = data.index(key) + len(key) + 4
    path.write_bytes(data[:at] + (5).to_bytes(4, "little") + data[at + 4 :])
    with pytest.raises(TrainerError, match="base_"):
        read(path)


def main(folder: Path) -> None:
    """One folder per model: base.gguf, adapter.gguf and scores.json."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "test" / "fixtures"))
    from make_tiny_gguf import CHATML, GRANITE, make_tokenizer, write_vocabulary

    for name in MODELS:
        marks = GRANITE if architecture_of(name) == "granite" else CHATML
        tokenizer = make_tokenizer(marks)
        own = folder / name
        own.mkdir(parents=True)
        vocabulary = partial(write_vocabulary, tokenizer=tokenizer, size=VOCAB, marks=marks)
        write_gguf(own / "base.gguf", name, vocabulary)
        base = read(own / "base.gguf")
        config = TrainerConfig(base_sha256=base.sha256, lora=LoraSettings(rank=4, alpha=8), max_delta_norm=100)
        policy = random_policy(base)
        export.write_adapter(own, policy, base, config, 1)
        canary = default_canary(VOCAB, 200)
        scores = {
            "tokens": [*canary.prompt, *canary.continuation],
            "from": len(canary.prompt),
            "base": Reference(base).score([canary], 1.0)[0],
            "adapter": Reference(base).score([canary], 1.0, StoredAdapter.read(own / "adapter.gguf"))[0],
        }
        (own / "scores.json").write_text(json.dumps(scores))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
