"""Teacher-forced accuracy on held-out dialogues, split by where the right token could have been copied from."""

import numpy as np
import torch
from torch import Tensor

from dialogues import Dialogue, cut, pad
from model import Qwen3

# A target counts as content when fewer than this share of the held-out dialogues use its token in an assistant turn;
# the rest is call syntax, which is learnt almost at once and shows nothing about copying.
GLUE_SHARE = 0.5


def assistant_runs(assistant: np.ndarray) -> list[tuple[int, int]]:
    """Half-open ranges of consecutive assistant tokens."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], assistant.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def glue_tokens(dialogues: list[Dialogue], vocab_size: int) -> np.ndarray:
    """bool [vocab_size]: tokens that most dialogues' assistant turns use."""
    uses = np.zeros(vocab_size)
    for dialogue in dialogues:
        uses[np.unique(dialogue.ids[dialogue.assistant])] += 1
    return uses >= GLUE_SHARE * len(dialogues)


def sources(dialogue: Dialogue, glue: np.ndarray) -> dict[str, np.ndarray]:
    """
    For every position, whether its token is an assistant token of each kind:
    `from_user` content that occurs before the first assistant turn, `from_results` content that occurs only in later
    environment text (so it must be copied from a tool result), `unseen` content that does not occur before.
    """
    ids, assistant = dialogue.ids, dialogue.assistant
    kinds = {kind: np.zeros(len(ids), bool) for kind in ('from_user', 'from_results', 'unseen')}
    runs = assistant_runs(assistant)
    prompt = set(ids[: runs[0][0]].tolist()) if runs else set()
    results: set[int] = set()
    own: set[int] = set()
    at = runs[0][0] if runs else 0
    for start, end in runs:
        results.update(ids[at:start].tolist())
        for position in range(start, end):
            token = int(ids[position])
            if not glue[token]:
                if token in prompt:
                    kinds['from_user'][position] = True
                elif token in results and token not in own:
                    kinds['from_results'][position] = True
                elif token not in own and token not in results:
                    kinds['unseen'][position] = True
        own.update(ids[start:end].tolist())
        at = end
    return kinds


@torch.no_grad()
def teacher_forced(
    model: Qwen3, dialogues: list[Dialogue], digit_ids: np.ndarray, batch_tokens: int = 8192
) -> dict[str, float]:
    """
    @returns  `loss` (nats per assistant token), `assistant` accuracy, `digits` (targets that are digits), `from_user`,
              `from_results`, `unseen` as in `sources`, `turns`: assistant turns greedy decoding gets wholly right, and
              `last_turns`: the same for the last turn of each dialogue
    """
    glue = glue_tokens(dialogues, model.config.vocab_size)
    hits: dict[str, list[np.ndarray]] = {}
    losses = []
    for run in cut(sorted(dialogues, key=lambda d: len(d.ids)), batch_tokens):
        rows = pad(run)
        ids = torch.from_numpy(rows.ids)
        with torch.autocast('cpu', torch.bfloat16):
            hidden = model.hidden(ids[:, :-1])
        for row, dialogue in enumerate(run):
            length = len(dialogue.ids)
            logits = model.logits(hidden[row, : length - 1].float())
            right = np.concatenate(([False], (logits.argmax(-1) == ids[row, 1:length]).numpy()))
            where = np.flatnonzero(dialogue.assistant[1:])
            losses.append(assistant_losses(logits, ids[row, 1:length])[where].numpy())
            turns = np.array([right[a:b].all() for a, b in assistant_runs(dialogue.assistant)])
            found = {
                'assistant': right[dialogue.assistant],
                'digits': right[dialogue.assistant & np.isin(dialogue.ids, digit_ids)],
                'turns': turns,
                'last_turns': turns[-1:],
            }
            for kind, chosen in sources(dialogue, glue).items():
                found[kind] = right[chosen]
            for kind, values in found.items():
                hits.setdefault(kind, []).append(values)
    result = {'loss': float(np.concatenate(losses).mean())}
    for kind, values in hits.items():
        joined = np.concatenate(values)
        if len(joined):
            result[kind] = float(joined.mean())
    return {kind: round(value, 4) for kind, value in result.items()}


def assistant_losses(logits: Tensor, targets: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(logits, targets, reduction='none')
