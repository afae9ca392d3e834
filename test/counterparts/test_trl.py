"""TRL's `GRPOTrainer` over the environments of `prove_worlds.trl`, with the demo model."""

import json
import os
import re
from contextlib import nullcontext
from functools import partial

import pytest
import torch
from script import MODES
from scripted_model import next_message
from served import CHECKOUT

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from prove_worlds import UnknownEpisode, Worlds
from prove_worlds.trl import TrlTasks
from transformers import TrainerCallback
from trl import GRPOTrainer

README = (CHECKOUT / "prove-worlds" / "README.md").read_text()


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def run_readme(worlds, tmp_path, monkeypatch):
    """Function that runs the README's program with more settings, and returns its trainer."""
    (program,) = re.findall(r"^```python\n([^`]*GRPOTrainer\([^`]*)^```", README, re.MULTILINE)
    (tmp_path / "models").symlink_to(CHECKOUT / "models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Worlds, "start", lambda _: nullcontext(worlds))

    def run(trainer, *replacements):
        monkeypatch.setattr("trl.GRPOTrainer", trainer)
        text = program
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        variables = {"__name__": "__main__"}
        exec(compile(text, "README.md", "exec"), variables)
        return variables["trainer"]

    return run


class Watch(TrainerCallback):
    """Remembers the weights before training."""

    before = None

    def on_train_begin(self, args, state, control, model=None, **_):
        self.before = {name: weights.clone() for name, weights in model.state_dict().items()}


class Recorded(GRPOTrainer):
    """Trainer that remembers the prompts and the completions of each step."""

    def __init__(self, *args, **settings):
        self.steps = []
        super().__init__(*args, **settings)

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        tasks = [row["task"] for row in inputs]
        self.steps.append((tasks, completions, rewards.nansum(dim=1).tolist()))
        return rewards

    def _tokenize_prompts(self, prompts):
        tokenised = super()._tokenize_prompts(prompts)
        self.prompts = [self.processing_class.decode(ids) for ids in tokenised[0]]
        return tokenised


def written(completion):
    """Yield what a model wrote, as lists of actions for `prove-server score`."""
    for message in completion:
        if message["role"] != "assistant":
            continue
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        said = [call["arguments"]["text"] for call in calls if call["name"] == "reply_to_user"]
        made = [call for call in calls if call["name"] != "reply_to_user"]
        text = message.get("content") or ""
        yield [{"text": text, "calls": made}] * (not said or bool(made)) + [{"text": one, "calls": []} for one in said]


def test_two_steps_of_the_readme_have_tools_in_the_prompt_and_the_rewards_of_prove_server_score(
    run_readme, worlds, assert_scored
):
    watch = Watch()
    trainer = run_readme(partial(Recorded, callbacks=[watch]), ("max_steps=1", "max_steps=2"))
    assert len(trainer.steps) == 2
    for task, prompt in zip(trainer.steps[-1][0], trainer.prompts, strict=True):
        tools = worlds.task(task).tools
        assert len(tools) > 1
        assert all(f"\n{tool['function']['name']}(" in prompt for tool in tools)
    played = [
        (task, list(written(completion)), pytest.approx(reward, rel=1e-6))
        for tasks, completions, rewards in trainer.steps
        for task, completion, reward in zip(tasks, completions, rewards, strict=True)
    ]
    assert_scored(played)
    assert any(message.get("tool_calls") for _, made, _ in trainer.steps for one in made for message in one)
    assert any(len(set(rewards)) > 1 for _, _, rewards in trainer.steps), "nothing to learn from"
    after = trainer.model.state_dict()
    assert any(not torch.equal(weights, after[name]) for name, weights in watch.before.items())


class Scripted(Recorded):
    """Trainer whose model writes scripts. TRL parses the texts and calls the tools."""

    mode = "right"
    scripts = None

    def _generate_single_turn(self, prompt_ids, *_, **__):
        return [self._write(self.processing_class.decode(ids)) for ids in prompt_ids], None

    def _write(self, prompt):
        roles = re.findall(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>", prompt, re.DOTALL)
        messages = [
            {"role": "user" if role == "user" and "<tool_response>" not in text else role, "content": text}
            for role, text in roles
            if "<tool_response>" not in text
        ]
        tools = set(re.findall(r"^(\w+)\(", prompt, re.MULTILINE))
        message = next_message(self.scripts, self.mode, messages, tools)
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        parts = [message["content"] or "", *(f"<tool_call>\n{called(call)}\n</tool_call>" for call in calls)]
        return self.processing_class("\n".join(filter(None, parts)) + "<|im_end|>")["input_ids"]


def called(function):
    return f'{{"name": "{function["name"]}", "arguments": {function["arguments"]}}}'


@pytest.mark.parametrize("mode", MODES)
def test_scripted_completions_get_the_rewards_of_prove_server_score(run_readme, scripts, assert_scored, mode):
    Scripted.mode, Scripted.scripts = mode, scripts
    trainer = run_readme(
        Scripted,
        ("max_completion_length=256", "max_completion_length=2048"),
        ("per_device_train_batch_size=8", "per_device_train_batch_size=4"),
        ("num_generations=4", "num_generations=2"),
    )
    ((tasks, completions, rewards),) = trainer.steps
    if mode == "unreadable":
        # TRL takes the broken call for a text, which ends the conversation.
        played = [list(written(completion)) for completion in completions]
        assert all("<tool_call>" in messages[0][0]["text"] for messages in played)
    else:
        played = [scripts[mode][task].actions() for task in tasks]
    rewards = [pytest.approx(reward, rel=1e-6) for reward in rewards]
    assert_scored(list(zip(tasks, played, rewards, strict=True)))
    if mode == "right":
        assert rewards == [1.3] * len(rewards)


def test_a_call_that_was_lost_leaves_no_reward(worlds, examples):
    tasks = TrlTasks(worlds)
    row = tasks.train_dataset[0]
    environment = tasks.environment_factory[row["environment"]]()
    environment.reset(task=row["task"], prompt=row["prompt"], kind="ignored")
    name = next(example["ground_truth"][0]["name"] for example in examples if example["id"] == row["task"])
    assert "error" in json.loads(getattr(environment, name)(self="x", nonsense=1))
    environment._episode.close()
    with pytest.raises(UnknownEpisode):
        getattr(environment, name)()
    with pytest.raises(UnknownEpisode):
        tasks.prove_reward([[]], [environment])
    environment.reset(task=row["task"])
    assert tasks.prove_reward([[{"role": "assistant", "content": "Done."}]], [environment])[0] < 1
