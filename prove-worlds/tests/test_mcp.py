"""The same tasks over MCP, with the reference client and nothing of this package."""

import asyncio
import json

import pytest
from mcp import Client

PATIENCE_S = 300


async def answer(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    return bool(result.is_error), result.content[0].text


async def names_of(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def play(url, mode, example):
    """A task opened, played as its example is and closed. Returns what closing it tells."""
    async with Client(url, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
        names = await names_of(client)
        assert {"open", "fork", "close", "reply_to_user"} <= set(names)
        _, text = await answer(client, "open", {"task": example["id"]})
        opened = json.loads(text)
        assert [tool["function"]["name"] for tool in example["tools"]] == [
            tool["function"]["name"] for tool in opened["tools"][:-1]
        ]
        session = {"session": opened["session"]}
        answers = iter(message["content"] for message in example["messages"] if message["role"] == "tool")
        for message in example["messages"]:
            if message["role"] != "assistant":
                continue
            calls = message.get("tool_calls") or []
            for call in calls:
                arguments = json.loads(call["function"]["arguments"])
                heard = await answer(client, call["function"]["name"], session | arguments)
                assert heard == (False, next(answers))
            if not calls:
                await answer(client, "reply_to_user", {**session, "text": message["content"]})
        _, text = await answer(client, "close", session)
        return json.loads(text)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_of_each_era_plays_a_task_and_gets_its_reward(worlds, examples, mode):
    closed = asyncio.run(play(f"{worlds.url}/mcp", mode, examples[0]))
    assert (closed["total"], closed["solved"], closed["over"]) == (1.3, True, True)
