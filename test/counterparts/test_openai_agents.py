"""openai-agents: a scripted model plays tasks over MCP, and the demo model answers over `prove-node serve`."""

import asyncio
import json

import pytest
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI, BadRequestError
from script import MODES
from served import PATIENCE_S
from serving import MODEL, QUESTION, TOO_LONG, served_model

__all__ = ["served_model"]

set_tracing_disabled(True)


def model_of(url, name):
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=PATIENCE_S)
    return OpenAIChatCompletionsModel(model=name, openai_client=client)


async def play(worlds, model, script):
    """Let an agent play an open episode at its own address. Return the episode's score."""
    with worlds.open(script.task) as episode:
        params = {"url": f"{worlds.url}/episodes/{episode.id}/mcp", "timeout": PATIENCE_S}
        async with MCPServerStreamableHttp(params, client_session_timeout_seconds=PATIENCE_S) as server:
            agent = Agent(name="agent", mcp_servers=[server], model=model_of(model.url, script.mode))
            said = await Runner.run(agent, script.opening, max_turns=30)
        # The agent ends with a message without calls, which no tool sends.
        if not episode.over:
            episode.reply(said.final_output)
        return episode.score().total


# The library answers arguments that are not JSON and unknown tools itself: the latter with an error that ends the run.
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode in ("right", "wrong")])
def test_every_episode_gets_the_reward_of_prove_server_score(worlds, scripts, scripted_model, assert_scored, mode):
    chosen = list(scripts[mode].values())[:2]
    played = [(one.task, one.actions(), asyncio.run(play(worlds, scripted_model, one))) for one in chosen]
    assert_scored(played)
    if mode == "right":
        assert {total for _, _, total in played} == {1.3}


@function_tool
def list_accounts(kind: str | None = None) -> str:
    """List the accounts of the user."""
    return json.dumps({"accounts": []})


def ask(url, text, stream):
    settings = ModelSettings(temperature=0, max_tokens=200)
    model = model_of(url, MODEL)
    # The demo model was trained for tasks, not for an end after one call.
    ends = {"tool_use_behavior": "stop_on_first_tool"}
    agent = Agent(name="agent", tools=[list_accounts], model=model, model_settings=settings, **ends)

    async def run():
        if not stream:
            return await Runner.run(agent, text, max_turns=10)
        streamed = Runner.run_streamed(agent, text, max_turns=10)
        async for _ in streamed.stream_events():
            pass
        return streamed

    return asyncio.run(run())


def test_the_demo_model_calls_a_tool_and_answers_the_same_streamed_and_whole(served_model):
    whole, streamed = (ask(served_model, QUESTION, stream) for stream in (False, True))
    assert [item.type for item in whole.new_items][:2] == ["tool_call_item", "tool_call_output_item"]
    assert [item.type for item in streamed.new_items] == [item.type for item in whole.new_items]
    assert streamed.final_output == whole.final_output


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_over_the_context_limit_is_the_same_error_either_way(served_model, stream):
    with pytest.raises(BadRequestError) as error:
        ask(served_model, TOO_LONG, stream)
    assert error.value.code == "context_length_exceeded"
