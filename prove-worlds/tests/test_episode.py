"""Episodes of a real `prove-server env`."""

import json

import pytest
from prove_worlds import BadRequest, EpisodeOver, Refused, UnknownEpisode, UnknownTask, Worlds
from prove_worlds.episode import message


def play(episode, messages):
    """Play the conversation of an example. Return the messages of the model, and its calls with their outcomes."""
    actions, calls = [], []
    answers = iter(said["content"] for said in messages if said["role"] == "tool")
    users = iter(said["content"] for said in messages if said["role"] == "user")
    next(users)
    for said in messages:
        if said["role"] != "assistant":
            continue
        functions = [call["function"] for call in said.get("tool_calls") or []]
        made = [{"name": function["name"], "arguments": json.loads(function["arguments"])} for function in functions]
        text = said.get("content") or ""
        reply = episode.send(text, [(call["name"], call["arguments"]) for call in made])
        assert [result.text for result in reply.results] == [next(answers) for _ in made]
        assert reply.user == (None if made else next(users, None))
        actions.append({"text": text, "calls": made})
        calls += [{**call, "ok": result.ok} for call, result in zip(made, reply.results, strict=True)]
    return actions, calls


def test_the_ground_truth_gets_the_same_reward_through_python_and_prove_server_score(worlds, examples, score):
    played = []
    for example in examples:
        with worlds.open(example["id"]) as episode:
            assert episode.messages == example["messages"][: len(episode.messages)]
            assert episode.tools == example["tools"]
            actions, calls = play(episode, example["messages"])
            assert episode.over
            assert episode.actions == actions
            played.append((episode.task, actions, calls, episode.score()))
    # Scored by a replay of the actions, and from the recorded calls without a replay.
    again = score([{"task": task, "actions": actions} for task, actions, _, _ in played])
    believed = score([{"task": task, "calls": calls} for task, _, calls, _ in played])
    for (task, _, _, mine), theirs, alone in zip(played, again, believed, strict=True):
        assert (theirs["task"], theirs["preset"]) == (task, mine.preset)
        assert mine.total == theirs["total"] == alone["total"] == 1.3
        assert mine.components == theirs["components"] == alone["components"]
        assert mine.solved is theirs["solved"] is alone["solved"] is True
        assert mine.state_hashes == theirs["stateHashes"]


BRINGING = """
const { exampleOfRecord, parseRecord } = await import('./dist/tasks/dataset/index.js')
const { nameTask } = await import('./dist/rollout/episode/index.js')
const { id, facts, questions, ...body } = exampleOfRecord(parseRecord(process.argv[1], 'here'), 'here').task
const toolset = body.toolset.map((offer, i) => (i === 1 ? { ...offer, from: 1 } : offer))
process.stdout.write(JSON.stringify(nameTask({ ...body, toolset, turns: ['Do it.', 'Now you can.'], groundTruth: [] })))
"""


def test_a_user_turn_that_adds_tools_describes_them_and_they_are_offered_afterwards(worlds, examples, run_node):
    task = json.loads(run_node(BRINGING, json.dumps(examples[0])))
    brought = task["toolset"][1]["tool"]
    with worlds.open(task) as episode:
        assert len(episode.tools) == len(task["toolset"]) - 1
        user = episode.reply("I have no tool for that.")
        assert user is not None and user.startswith("Now you can.") and f'"name":"{brought}"' in user
        assert [tool["function"]["name"] for tool in episode.tools][-1] == brought
        with episode.fork() as fork:
            assert sorted(tool["function"]["name"] for tool in fork.tools) == sorted(
                tool["function"]["name"] for tool in episode.tools
            )


def test_tasks_are_listed_page_by_page_and_opened_by_index(worlds, examples, monkeypatch):
    monkeypatch.setattr("prove_worlds.worlds._PAGE", 4)
    assert worlds.splits() == {"train": len(examples)}
    listed = list(worlds.tasks())
    assert [task.id for task in listed] == [example["id"] for example in examples]
    assert [task.id for task in worlds.tasks(start=1, stop=3)] == [example["id"] for example in examples[1:3]]
    with worlds.open(index=2) as episode:
        assert episode.task == listed[2].id
        assert worlds.task(episode.task).tools == episode.tools


def test_an_episode_resumes_from_its_actions_and_forks(worlds, examples):
    example = max(examples, key=lambda example: len(example["ground_truth"]))
    truth = [{"name": call["name"], "arguments": json.loads(call["arguments"])} for call in example["ground_truth"]]
    first = [{"text": "", "calls": truth[:1]}]
    with worlds.open(example["id"], actions=first) as episode, episode.fork() as fork:
        for call in truth[1:]:
            assert fork.call(call["name"], call["arguments"]).ok
        assert fork.score().total == 1.3
        assert episode.score().total < 1.3
        assert episode.actions == first


@pytest.mark.parametrize("arguments", [{"draft": float("nan")}, "{not JSON", "[]"])
def test_arguments_that_are_not_a_json_object_count_as_a_malformed_call(worlds, examples, arguments):
    with worlds.open(examples[0]["id"]) as episode:
        assert not episode.call("attach_file", arguments).ok
        ((call,),) = [said["calls"] for said in episode.actions]
        assert "attach_file" in call["unreadable"]
        assert episode.score().components["validity"] == 0


def test_the_text_next_to_calls_is_part_of_the_message_and_a_message_can_be_sent_call_by_call(worlds, examples):
    names = [tool["function"]["name"] for tool in examples[0]["tools"]][:2]
    calls = [(name, {}) for name in names]
    with worlds.open(examples[0]["id"]) as whole, worlds.open(examples[0]["id"]) as parts:
        results = whole.send("I look it up.", calls).results
        assert parts.send("I look it up.", calls[:1], more=True).results + parts.send("", calls[1:]).results == results
        assert whole.score() == parts.score()


def test_a_whole_conversation_is_scored_in_a_new_episode(worlds, examples):
    for example in examples[:2]:
        with worlds.open(example["id"]) as episode:
            messages, _ = play(episode, example["messages"])
            # A message after the end does not count.
            assert worlds.score(example["id"], [*messages, message("Done.")]) == episode.record()


def test_closing_a_client_closes_its_open_episodes(worlds, examples):
    with Worlds(worlds.url) as other:
        left = [other.open(examples[0]["id"]), other.open(examples[0]["id"]).fork()]
        assert worlds.episode(left[0].id).messages == left[0].messages
        other.open(examples[0]["id"]).close()
    for episode in left:
        with pytest.raises(UnknownEpisode):
            worlds.episode(episode.id)


def test_errors_have_a_class_and_the_code_of_the_server(worlds, examples):
    with pytest.raises(UnknownTask, match="unknown_task: the data set has no task nothing"):
        worlds.open("nothing")
    with pytest.raises(UnknownTask):
        worlds.task("a/../b")
    with pytest.raises(BadRequest):
        worlds.open(index=0, split="nowhere")
    with pytest.raises(Refused) as unknown:
        worlds.open(index=0, reward="generous")
    assert (unknown.value.code, unknown.value.status) == ("unknown_reward", 400)
    episode = worlds.open(examples[0]["id"])
    while episode.reply("Done.") is not None:
        pass
    with pytest.raises(EpisodeOver):
        episode.call("attach_file", {})
    episode.close()
    episode.close()
    with pytest.raises(UnknownEpisode):
        episode.score()


def test_the_first_program_of_the_readme_runs(readme, capsys):
    assert readme("worlds.open(index=0)")["episode"].over
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "{'train': 6}"
    assert printed[3].startswith('Result(ok=False, text=\'{"error":"invalid_arguments"')
    assert printed[-1].startswith("Score(total=")
