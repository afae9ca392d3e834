"""The tasks over MCP in both eras: with the SDK for Python, and through FastMCP's proxy."""

import asyncio
import json
import subprocess

import pytest
from fastmcp import Client as FastClient
from fastmcp.server import create_proxy
from mcp import Client
from script import MODES
from scripted_model import REPLY_TOOL
from served import PATIENCE_S, PROGRAM


async def names_of(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def play(names, call, script):
    """Open a task, play a script and close it. Return the result of closing."""

    async def answer(tool, arguments):
        result = await call(tool, arguments)
        return json.loads(result.content[0].text) if tool in ("open", "close") else result

    assert {"open", "fork", "close", REPLY_TOOL} <= set(names)
    opened = await answer("open", {"task": script.task})
    offered = {tool["function"]["name"] for tool in opened["tools"]}
    assert offered <= set(names)
    session = {"session": opened["session"]}
    for message in script.messages:
        for name, text in message.calls:
            await answer(name, session | json.loads(text))
        if not message.calls:
            await answer(REPLY_TOOL, session | {"text": message.text})
    # The episode is over: the tool returns an error, and the connection stays open.
    late = await answer(min(offered), session)
    assert late.is_error
    return await answer("close", session)


async def play_directly(url, mode, script):
    async with Client(url, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
        return await play(await names_of(client), client.call_tool, script)


async def play_through_a_proxy(url, mode, script):
    async with FastClient(create_proxy(url), mode=mode, timeout=PATIENCE_S) as client:
        names = [tool.name for tool in await client.list_tools()]
        return await play(names, client.call_tool_mcp, script)


@pytest.mark.parametrize("way", [play_directly, play_through_a_proxy])
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
# The arguments of MCP are objects and its tools are listed: neither unreadable nor unknown calls can be made.
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode in ("right", "wrong")])
def test_a_client_of_each_era_plays_tasks_and_gets_their_rewards(worlds, scripts, assert_scored, mode, era, way):
    played = []
    for script in list(scripts[mode].values())[:2]:
        closed = asyncio.run(way(f"{worlds.url}/mcp", era, script))
        assert closed["over"]
        played.append((script.task, script.actions(), closed["total"]))
    assert_scored(played)
    if mode == "right":
        assert {total for _, _, total in played} == {1.3}


@pytest.fixture(scope="module")
def bank():
    """URL of an environment that `prove-server mcp` serves, without tasks."""
    command = ["node", str(PROGRAM), "mcp", "banking", "--port", "0"]
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
    # FastMCP's proxy works this way, so docs/environments/serve.md recommends the newer era behind a proxy.
    names, answers = asyncio.run(freeze_twice(bank, "legacy"))
    assert "open" not in names
    assert [answer["status"] for answer in answers] == ["frozen", "frozen"]
