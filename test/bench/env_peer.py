"""The Python side of `npm run bench -- env`: what the same work costs in the customary ways.

- A plain class as in BFCL's multi-turn environments (`bfcl_eval/eval_checker/multi_turn_eval/func_source_code`): a
  session is an instance with a deep copy of its scenario, a call is a method that checks its arguments by hand, changes
  dicts and lists and returns a dict, with the key "error" when it refuses. There is no schema, and nothing is undone
  when a method fails half way. Its calls are made as BFCL makes them (`multi_turn_utils.py`: the text of a call is
  rewritten, evaluated, and its result turned into JSON) and, as the fastest that Python can do, as bare methods.
- The same class behind FastMCP and behind the `mcp` package's own server, with a client in the same process. Both check
  arguments against the methods' types; of results they know that they are objects, less than our worlds check.

Prints one JSON object: `versions`, and for each side that is installed its numbers by metric. Every number comes from
the median time of a short stretch of work. MCP sides need coordinator/trainer/requirements-bench.txt.
"""

import asyncio
import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from importlib.metadata import PackageNotFoundError, version
from typing import Any

ROUNDS = 300
"""Stretches of work per number."""
MCP_ROUNDS = 15

SCENARIO: dict[str, Any] = {
    "today": "2026-03-02",
    "accounts": {
        f"account-{i}": {
            "name": f"Account {i}",
            "kind": ["checking", "savings", "joint"][i % 3],
            "currency": "EUR",
            "balance": 500 * (i + 1),
            "daily_limit": 2000,
            "status": "active",
        }
        for i in range(5)
    },
    "payees": {f"payee-{i}": {"name": f"Payee {i}", "bank": "North Bank", "status": "active"} for i in range(6)},
    "cards": {
        f"card-{i}": {"account": f"account-{i}", "status": "active", "limit": 300, "ceiling": 900, "pin": f"100{i}"}
        for i in range(4)
    },
    "transactions": [
        {
            "transaction": f"payment-{i}",
            "account": f"account-{i % 5}",
            "payee": f"payee-{i % 6}",
            "amount": 10 + i,
            "date": f"2026-02-{i + 1:02}",
            "status": "posted",
        }
        for i in range(12)
    ],
    "next_transaction": 100,
}


class Bank:
    """A bank in the manner of BFCL's `TradingBot` and `TravelAPI`."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        scenario = deepcopy(scenario)
        self.today: str = scenario["today"]
        self.accounts: dict[str, dict[str, Any]] = scenario["accounts"]
        self.payees: dict[str, dict[str, Any]] = scenario["payees"]
        self.cards: dict[str, dict[str, Any]] = scenario["cards"]
        self.transactions: list[dict[str, Any]] = scenario["transactions"]
        self.next_transaction: int = scenario["next_transaction"]

    def list_accounts(self) -> dict[str, Any]:
        rows = [{"account": key, "name": a["name"], "balance": a["balance"]} for key, a in self.accounts.items()]
        return {"accounts": rows}

    def get_account(self, account: str) -> dict[str, Any]:
        if not isinstance(account, str) or not 1 <= len(account) <= 80:
            return {"error": "account must be a string of 1 to 80 characters"}
        if account not in self.accounts:
            return {"error": f"There is no account {account}."}
        row = self.accounts[account]
        return {"account": account, "name": row["name"], "balance": row["balance"], "status": row["status"]}

    def find_payee(self, name: str) -> dict[str, Any]:
        if not isinstance(name, str) or not 2 <= len(name) <= 40:
            return {"error": "name must be a string of 2 to 40 characters"}
        found = [
            {"payee": key, "name": p["name"]} for key, p in self.payees.items() if name.lower() in p["name"].lower()
        ]
        return {"found": len(found), "payees": found[:5]}

    def send_payment(self, account: str, payee: str, amount: int) -> dict[str, Any]:
        if not isinstance(account, str) or account not in self.accounts:
            return {"error": f"There is no account {account}."}
        if not isinstance(payee, str) or payee not in self.payees:
            return {"error": f"There is no payee {payee}."}
        if not isinstance(amount, int) or isinstance(amount, bool) or not 1 <= amount <= 100_000:
            return {"error": "amount must be an integer from 1 to 100000"}
        row = self.accounts[account]
        if row["status"] != "active":
            return {"error": "The account is frozen."}
        if row["balance"] < amount:
            return {"error": f"Only {row['balance']} is available."}
        gone = sum(t["amount"] for t in self.transactions if t["account"] == account and t["date"] == self.today)
        if gone + amount > row["daily_limit"]:
            return {"error": "That is more than may still leave the account today."}
        row["balance"] -= amount
        key = f"payment-{self.next_transaction}"
        self.next_transaction += 1
        self.transactions.append(
            {
                "transaction": key,
                "account": account,
                "payee": payee,
                "amount": amount,
                "date": self.today,
                "status": "pending" if amount > 100 else "posted",
            }
        )
        return {"transaction": key, "amount": amount, "balance": row["balance"]}

    def cancel_payment(self, transaction: str) -> dict[str, Any]:
        if not isinstance(transaction, str) or not 1 <= len(transaction) <= 80:
            return {"error": "transaction must be a string of 1 to 80 characters"}
        for row in self.transactions:
            if row["transaction"] == transaction:
                if row["status"] != "pending":
                    return {"error": f"{transaction} is {row['status']}."}
                row["status"] = "cancelled"
                self.accounts[row["account"]]["balance"] += row["amount"]
                return {"transaction": transaction, "status": "cancelled"}
        return {"error": f"There is no {transaction}."}

    def set_card_limit(self, card: str, limit: int) -> dict[str, Any]:
        if not isinstance(card, str) or card not in self.cards:
            return {"error": f"There is no card {card}."}
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            return {"error": "limit must be a positive integer"}
        if limit > self.cards[card]["ceiling"]:
            return {"error": "The limit is higher than this card allows."}
        self.cards[card]["limit"] = limit
        return {"card": card, "limit": limit}


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_accounts", {}),
    ("find_payee", {"name": "payee 3"}),
    ("get_account", {"account": "account-1"}),
    ("send_payment", {"account": "account-1", "payee": "payee-3", "amount": 120}),
    ("cancel_payment", {"transaction": "payment-100"}),
    ("set_card_limit", {"card": "card-2", "limit": 400}),
    ("get_account", {"account": "account-4"}),
    ("send_payment", {"account": "account-4", "payee": "payee-1", "amount": 30}),
    ("find_payee", {"name": "payee"}),
    ("set_card_limit", {"card": "card-0", "limit": 250}),
] * 2
"""Twenty calls, as many as our worlds' conversations have."""
# The second payment to cancel is the third that was made.
CALLS[14] = ("cancel_payment", {"transaction": "payment-102"})


METHODS = {name for name, _ in CALLS}
TEXTS = [f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})" for name, arguments in CALLS]
"""The same calls, as a model writes them for BFCL."""
FORBIDDEN = ["kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"]


def play(bank: Bank) -> None:
    for name, arguments in CALLS:
        result = getattr(bank, name)(**arguments)
        if "error" in result:
            raise SystemExit(f"{name}: {result['error']}")


def play_as_bfcl(bank: Bank) -> None:
    for text in TEXTS:
        call = re.sub(
            r"\b([a-zA-Z_]\w*)\s*(?=\()",
            lambda match: f"bank.{match.group(1)}" if match.group(1) in METHODS else match.group(1),
            text,
        )
        if call.split("(")[0].split(".")[-1] in FORBIDDEN:
            raise SystemExit(f"{call} is not allowed")
        result = json.dumps(eval(call, {"bank": bank}))
        if '"error"' in result:
            raise SystemExit(f"{call}: {result}")


def median_s(values: list[float]) -> float:
    return statistics.median(values[len(values) // 5 :])  # the first ones warm up


def plain_class(play_calls: Callable[[Bank], None]) -> dict[str, float]:
    calls, opens, forks = [], [], []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        bank = Bank(SCENARIO)
        opened = time.perf_counter()
        play_calls(bank)
        played = time.perf_counter()
        deepcopy(bank)
        opens.append(opened - begun)
        calls.append((played - opened) / len(CALLS))
        forks.append(time.perf_counter() - played)
    return {"calls_per_s": 1 / median_s(calls), "opens_per_s": 1 / median_s(opens), "forks_per_s": 1 / median_s(forks)}


async def mcp_calls(server_class: Any, client_class: Any) -> dict[str, float]:
    spent = []
    for _ in range(MCP_ROUNDS):
        server, bank = server_class("bank"), Bank(SCENARIO)
        for name in METHODS:
            server.tool()(getattr(bank, name))
        async with client_class(server) as client:
            await client.list_tools()  # so that the client checks results
            begun = time.perf_counter()
            for name, arguments in CALLS:
                result = await client.call_tool(name, arguments)
                if result.structured_content is None:
                    raise SystemExit(f"{name}: no structured result")
            spent.append((time.perf_counter() - begun) / len(CALLS))
    return {"mcp_calls_per_s": 1 / median_s(spent)}


def main() -> None:
    report: dict[str, Any] = {"versions": {"python": sys.version.split()[0]}, "sides": {}}
    report["sides"]["BFCL-style class"] = plain_class(play_as_bfcl)
    report["sides"]["bare Python methods"] = {"calls_per_s": plain_class(play)["calls_per_s"]}

    def measured(package: str, server_class: Any, client_class: Any) -> None:
        report["versions"][package] = version(package)
        report["sides"][package] = asyncio.run(mcp_calls(server_class, client_class))

    try:
        import fastmcp

        measured("fastmcp", fastmcp.FastMCP, fastmcp.Client)
    except (ImportError, PackageNotFoundError) as missing:
        print(f"bench: goes on without FastMCP: {missing}; see CONTRIBUTING.md", file=sys.stderr)
    try:
        from mcp import Client
        from mcp.server import MCPServer

        measured("mcp", MCPServer, Client)
    except (ImportError, PackageNotFoundError) as missing:
        print(f"bench: goes on without the mcp package's server: {missing}; see CONTRIBUTING.md", file=sys.stderr)
    print(json.dumps(report, allow_nan=False))


if __name__ == "__main__":
    main()
