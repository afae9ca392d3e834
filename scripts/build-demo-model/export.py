"""Checkpoint and tokenizer to the shipped GGUF, checked through the node's own engine."""

import argparse
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

import checkpoint
import gguf_file
from model import ModelConfig, Qwen3

REPOSITORY = Path(__file__).resolve().parents[2]
TSX = REPOSITORY / 'node_modules/tsx/dist/cli.mjs'
# Nats, on tokens that sampling would draw (LIKELY or more probable). llama.cpp keeps keys and values in float16, which
# costs 5e-3 to 0.03 there, the more the surer a model is, and more on tokens of vanishing probability; a wrong
# permutation or norm costs whole nats.
LOGPROB_TOLERANCE = 0.05
LIKELY = 1e-3
MEAN_TOLERANCE = 0.01
PROBE_TEXTS = [
    '<|im_start|>user\nMove 250.00 from "savings" to acc-4k7.<|im_end|>\n<|im_start|>assistant\n<tool_call>\n',
    '{"name":"create_event","arguments":{"title":"Q3 review","start":"2026-03-14T09:30"}}',
    "It's   naïve – e\u0301tude 漢字 🙂\n\n\tdon't  \n",  # noqa: RUF001, the tokenizer must read it
]


class ExportMismatch(Exception):
    """The engine reads the written file differently from torch or from the tokenizer."""


def engine_reads(path: Path, sequences: list[list[int]], texts: list[str]) -> dict:
    """Return log-probabilities (nats) and token ids from the engine, see `llama-score.ts`."""
    command = ['node', str(TSX), str(Path(__file__).with_name('llama-score.ts')), str(path.resolve())]
    request = json.dumps({'sequences': sequences, 'texts': texts})
    done = subprocess.run(
        command, input=request, capture_output=True, text=True, timeout=300, cwd=REPOSITORY, check=False
    )
    if done.returncode != 0:
        raise ExportMismatch(f'the engine failed on {path}: {done.stderr[-2000:]}')
    return json.loads(done.stdout)


@torch.no_grad()
def torch_logprobs(path: Path, config: ModelConfig, sequence: list[int]) -> np.ndarray:
    """Log-probabilities of every token but the first under the file's weights, in float32."""
    model = Qwen3(config)
    model.load_state_dict(gguf_file.read_weights(path, config.num_layers))
    ids = torch.tensor([sequence])
    logprobs = model(ids[:, :-1]).log_softmax(-1)
    return logprobs.gather(2, ids[:, 1:, None])[0, :, 0].numpy()


def check(path: Path, config: ModelConfig, tokenizer: Tokenizer, sequences: list[list[int]]) -> dict:
    """
    Compares file, torch and engine.
    @returns  mean and largest difference of log-probabilities in nats, the largest on likely tokens, and the counts
    @throws ExportMismatch
    """
    read = engine_reads(path, sequences, PROBE_TEXTS)
    for text, ids in zip(PROBE_TEXTS, read['ids'], strict=True):
        if tokenizer.encode(text).ids != ids:
            raise ExportMismatch(f'{text!r}: the tokenizer gives {tokenizer.encode(text).ids}, the engine {ids}')
    ours = np.concatenate([torch_logprobs(path, config, sequence) for sequence in sequences])
    differences = np.abs(ours - np.concatenate([np.array(theirs) for theirs in read['logprobs']]))
    likely = differences[ours > np.log(LIKELY)]
    result = {
        'mean': float(differences.mean()),
        'max': float(differences.max()),
        'max_of_likely': float(likely.max(initial=0)),
        'likely': len(likely),
        'tokens': len(differences),
    }
    if not (result['mean'] < MEAN_TOLERANCE and result['max_of_likely'] < LOGPROB_TOLERANCE):
        raise ExportMismatch(f'log-probabilities differ (nats): {result}')
    return result


def probe_sequences(tokenizer: Tokenizer, seed: int = 0) -> list[list[int]]:
    """Text, and random ids with a repeat, up to a few hundred tokens."""
    filled = tokenizer.get_vocab_size()
    random = np.random.default_rng(seed).integers(0, filled, 150).tolist()
    return [[token for text in PROBE_TEXTS for token in tokenizer.encode(text).ids], random + random]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--checkpoint', type=Path, required=True)
    parser.add_argument('--tokenizer', type=Path, required=True, help='folder written by tokenizer.py')
    parser.add_argument('--out', type=Path, required=True, help='GGUF file')
    parser.add_argument('--name', default='prove-demo')
    arguments = parser.parse_args()
    model, _, _ = checkpoint.load(arguments.checkpoint)
    tokenizer = Tokenizer.from_file(str(arguments.tokenizer / 'tokenizer.json'))
    template = (arguments.tokenizer / 'chat_template.jinja').read_text(encoding='utf-8')
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    unchecked = arguments.out.with_suffix('.unchecked.gguf')
    gguf_file.write(unchecked, model.config, model.state_dict(), tokenizer, template, arguments.name)
    compared = check(unchecked, model.config, tokenizer, probe_sequences(tokenizer))
    os.replace(unchecked, arguments.out)
    size = arguments.out.stat().st_size
    print(json.dumps({'file': str(arguments.out), 'bytes': size, 'logprob_difference': compared}))


if __name__ == '__main__':
    main()
