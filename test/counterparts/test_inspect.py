"""`inspect eval` over the task of `prove_worlds.inspect`."""

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.model import ChatMessageUser
from prove_worlds.inspect import prove
from script import MODES


@pytest.mark.parametrize("mode", MODES)
def test_every_sample_gets_the_score_of_prove_server_score(
    worlds, scripts, scripted_model, assert_scored, tmp_path, mode
):
    (log,) = evaluate(
        prove(url=worlds.url, split="train"),
        model=f"openai-api/scripted/{mode}",
        model_base_url=scripted_model.url,
        model_args={"api_key": "none"},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    played = []
    for sample in log.samples:
        (score,) = sample.scores.values()
        played.append((sample.id, scripts[mode][sample.id].actions(), score.value["total"]))
    assert sorted(task for task, _, _ in played) == sorted(scripts[mode])
    assert_scored(played)
    if mode == "right":
        assert {reward for _, _, reward in played} == {1.3}


def test_the_user_has_all_turns(worlds, examples, scripted_model, tmp_path):
    task = prove(url=worlds.url, split="train")
    settings = {"model_base_url": scripted_model.url, "model_args": {"api_key": "none"}}
    (log,) = evaluate(task, model="openai-api/scripted/right", log_dir=str(tmp_path), display="none", **settings)
    for example in examples:
        sample = next(sample for sample in log.samples if sample.id == example["id"])
        said = [message.text for message in sample.messages if isinstance(message, ChatMessageUser)]
        assert said == [message["content"] for message in example["messages"] if message["role"] == "user"]
