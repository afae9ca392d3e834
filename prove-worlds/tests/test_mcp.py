"""The same tasks over MCP, with the reference client and FastMCP's proxy, without this package."""

import asyncio
import json
import subprocess

import pytest
from conftest import PATIENCE_S, PROGRAM
from fastmcp import Client as FastClient
from fastmcp.server import create_proxy
from mcp import Client


async def names_of(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def play(names, call, example):
    """Open a task, play its example and close it. Return the result of closing."""

    async def answer(tool, arguments):
        result = await call(tool, arguments)
        return bool(result.is_error), result.content[0].text

    assert {"open", "fork", "close", "reply_to_user"} <= set(names)
    _, text = await answer("open", {"task": example["id"]})
    opened = json.loads(text)
    offered = [tool["function"]["name"] for tool in opened["tools"][:-1]]
    assert offered == [tool["function"]["name"] for tool in example["tools"]]
    assert set(offered) <= set(names)
    session = {"session": opened["session"]}
    answers = iter(message["content"] for message in example["messages"] if message["role"] == "tool")
    for message in example["messages"]:
        if message["role"] != "assistant":
            continue
        made = message.get("tool_calls") or []
        for one in made:
            arguments = json.loads(one["function"]["arguments"])
            assert await answer(one["function"]["name"], session | arguments) == (False, next(answers))
        if not made:
            await answer("reply_to_user", {**session, "text": message["content"]})
    # The episode is over: the tool returns an error, and the connection stays open.
    failed, text = await answer(offered[0], session)
    assert failed, text
    _, text = await answer("close", session)
    return json.loads(text)


async def play_directly(url, mode, example):
    async with Client(url, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
        return await play(await names_of(client), client.call_tool, example)


async def play_through_a_proxy(url, mode, example):
    async with FastClient(create_proxy(url), mode=mode, timeout=PATIENCE_S) as client:
        names = [tool.name for tool in await client.list_tools()]
        return await play(names, client.call_tool_mcp, example)


@pytest.mark.parametrize("way", [play_directly, play_through_a_proxy])
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_of_each_era_plays_a_task_and_gets_its_reward(worlds, examples, mode, way):
    closed = asyncio.run(way(f"{worlds.url}/mcp", mode, examples[0]))
    assert (closed["total"], closed["solved"], closed["over"]) == (1.3, True, True)


@pytest.fixture(scope="module")
def bank():
    """URL of an environment that `prove-server serve` serves, without tasks."""
    command = ["node", str(PROGRAM), "serve", "banking", "--http", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr
    yield next(word for line in process.stderr for word in line.split() if word.startswith("http://"))
    process.terminate()
    process.communicate()


async def freeze_twice(url, mode):
    """Return the tools that the proxy lists, and the results of freezing a bank card twice."""
    async with FastClient(create_proxy(url), mode=mode, timeout=PATIENCE_S) as client:
        names = [tool.name for tool in await client.list_tools()]
        session = {}

        async def answer(tool, **arguments):
            return json.loads((await client.call_tool_mcp(tool, session | arguments)).content[0].text)

        if "open" in names:
            session = {"session": (await answer("open"))["session"]}
        accounts = (await answer("list_accounts", kind="checking"))["accounts"]
        cards = [card for one in accounts for card in (await answer("list_cards", account=one["account"]))["cards"]]
        card = next(card["card"] for card in cards if card["status"] == "active")
        return names, [await answer("freeze_card", card=card) for _ in range(2)]


def test_a_session_argument_keeps_state_through_a_proxy(bank):
    names, (first, second) = asyncio.run(freeze_twice(bank, "2026-07-28"))
    assert {"open", "fork", "diff", "close", "freeze_card"} <= set(names)
    assert first["status"] == "frozen"
    assert second["error"] == "card_frozen"


def test_in_the_older_era_the_proxy_opens_a_new_connection_for_each_call(bank):
    # FastMCP's proxy works this way, so docs/serving.md recommends the newer era behind a proxy.
    names, answers = asyncio.run(freeze_twice(bank, "legacy"))
    assert "open" not in names
    assert [answer["status"] for answer in answers] == ["frozen", "frozen"]
