"""Plays scripted calls against MCP servers with the reference Python client and compares every answer.

Reads one script as JSON from standard input:
  {"connections": [{"name", "stdio": [command, ...] | "http": url, "mode", "tools": [names], "calls": [
     {"tool", "arguments", "error": bool, "text": str, "hash": str}]}]}
`mode` is the client's: "legacy" for MCP with sessions of its own, or a revision without, where one is opened by a tool.
`hash` is the state hash after the call. Prints one line of JSON, {"listed": n, "called": n}, or fails with the first
difference.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

STATE_HASH = "prove/stateHash"
TIMEOUT_S = 300  # only a hang gets there


async def all_tools(client: Client) -> list[str]:
    names: list[str] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def play(connection: dict) -> tuple[int, int]:
    if "stdio" in connection:
        command, *args = connection["stdio"]
        server = StdioServerParameters(command=command, args=args)
    else:
        server = connection["http"]
    async with Client(server, mode=connection["mode"], read_timeout_seconds=TIMEOUT_S) as client:
        listed = await all_tools(client)
        assert listed == connection["tools"], f"{connection['name']}: tools/list gave {listed}"
        opened = await client.call_tool("open", {}) if connection["mode"] != "legacy" else None
        session = {"session": opened.structured_content["session"]} if opened else {}
        for call in connection["calls"]:
            what = f"{connection['name']}: {call['tool']} {json.dumps(call['arguments'])}"
            result = await client.call_tool(call["tool"], session | call["arguments"], meta={STATE_HASH: True})
            text = result.content[0].text
            assert bool(result.is_error) == call["error"], f"{what} answered {text}"
            assert text == call["text"], f"{what} answered {text} instead of {call['text']}"
            if call["error"]:
                error = json.loads(text)
                assert set(error) == {"error", "message"} and all(error.values()), f"{what} answered {text}"
            else:
                assert result.structured_content == json.loads(text), f"{what}: structured content differs"
            assert result.meta[STATE_HASH] == call["hash"], f"{what} left another state"
        if opened:
            await client.call_tool("close", session)
        return len(listed), len(connection["calls"])


async def main() -> None:
    script = json.load(sys.stdin)
    played = [await play(connection) for connection in script["connections"]]
    listed, called = (sum(column) for column in zip(*played, strict=True))
    print(json.dumps({"listed": listed, "called": called}))


asyncio.run(main())
