"""Rewards of random conversations, with words next to calls, equal those of `prove-server score` to the last bit."""

import json
import random

import pytest
from prove_worlds import EpisodeOver

CONVERSATIONS = 4
"""Conversations for each task."""
WORDS = ["", "", "I look it up.", "Done.", "Which account do you mean?", "The balance is 1,234.50 €."]


def random_call(chance: random.Random, tools: list[str], truth: list[dict]) -> tuple[str, object]:
    """Return a right, wrong, unknown or unreadable call."""
    kind = chance.choice(["right", "right", "empty", "unknown", "text", "no object", "no number"])
    right = chance.choice(truth) if truth else {"name": chance.choice(tools), "arguments": "{}"}
    if kind == "right":
        return right["name"], json.loads(right["arguments"]) if chance.random() < 0.5 else right["arguments"]
    if kind == "unknown":
        return chance.choice(["CreateEvent", "verify", "a/b c", ""]), {}
    if kind == "text":
        return right["name"], '{"name": '
    if kind == "no object":
        return right["name"], "[1]"
    if kind == "no number":
        return right["name"], {"amount": float("nan")}
    return right["name"], {}


def random_messages(chance: random.Random, example: dict) -> list[tuple[str, list[tuple[str, object]]]]:
    """Return messages of a model: texts with calls. A message without calls is for the user."""
    truth, tools = example["ground_truth"], [tool["function"]["name"] for tool in example["tools"]]
    return [
        (chance.choice(WORDS), [random_call(chance, tools, truth) for _ in range(chance.choice([0, 1, 1, 2, 3]))])
        for _ in range(chance.randint(1, 12))
    ]


def play(episode, messages):
    try:
        for text, calls in messages:
            episode.send(text, calls)
    except EpisodeOver:
        return


@pytest.mark.parametrize("reward", ["paper", "outcome", "orchestration"])
def test_random_conversations_earn_what_the_program_scores(worlds, examples, score, reward):
    chance = random.Random(340)
    played = []
    for example in examples:
        for _ in range(CONVERSATIONS):
            with worlds.open(example["id"], reward=reward) as episode:
                play(episode, random_messages(chance, example))
                played.append(({"task": example["id"], "actions": episode.actions}, episode.score().total))
    assert len({total for _, total in played}) > len(examples), "conversations that all earn the same prove little"
    scored = score([rollout for rollout, _ in played], reward)
    assert [answer["total"] for answer in scored] == [total for _, total in played]
    for rollout, total in played[::CONVERSATIONS]:
        assert worlds.score(rollout["task"], rollout["actions"], reward=reward)["total"] == total
