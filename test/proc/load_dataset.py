"""Loads a written data set as its users do and reports what it holds, as JSON on stdout.

Input on stdin: {"folder": ..., "cache": ...}. The network is off: what the card says must be enough.
"""

import hashlib
import json
import os
import re
import sys

job = json.load(sys.stdin)
os.environ["HF_HOME"] = job["cache"]
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

import pyarrow.parquet  # noqa: E402
from datasets import Dataset, Features, load_dataset, load_dataset_builder  # noqa: E402, the environment must be set before

SPLITS = ["train", "validation", "held_out"]
STRUCTURED = ["messages", "tools", "ground_truth", "facts", "questions", "environments", "toolset", "calls", "metadata"]


def without_nulls(value):
    """Columnar structures pad what an object does not have with null."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def digest(rows):
    """One hash of what rows hold, whatever the order of keys and however absence is written."""
    text = json.dumps([without_nulls(row) for row in rows], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def of_lines(split):
    with open(os.path.join(job["folder"], "data", f"{split}.jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def unpacked(rows, columns):
    return [{name: json.loads(row[name]) if name in STRUCTURED else row[name] for name in columns} for row in rows]


def schema_of_parquet():
    return pyarrow.parquet.read_schema(os.path.join(job["folder"], "data", "train.parquet"))


def run_card():
    """Runs the card's Python snippets, one after the other."""
    with open(os.path.join(job["folder"], "README.md"), encoding="utf-8") as card:
        snippets = re.findall(r"```python\n(.*?)```", card.read(), re.DOTALL)
    names = {"folder": job["folder"]}
    for snippet in snippets:
        exec(snippet, names)
    return len(snippets), names


count, card = run_card()
parquet = load_dataset(job["folder"])
declared = load_dataset_builder(job["folder"]).info.features
files = {split: os.path.join(job["folder"], "data", f"{split}.jsonl") for split in SPLITS}
as_lines = load_dataset("json", data_files=files, features=card["features"])
every_line = load_dataset("json", data_files=os.path.join(job["folder"], "data", "*.jsonl"), features=card["features"])
expected = {split: of_lines(split) for split in SPLITS}
trl = Dataset.from_list(card["examples"], on_mixed_types="use_json")
calls = [call["function"] for row in trl for message in row["messages"] for call in message.get("tool_calls") or []]

json.dump(
    {
        "splits": {
            split: {
                "expected": digest(expected[split]),
                "parquet": digest(unpacked(parquet[split], list(expected[split][0]))),
                "lines": digest(list(as_lines[split])),
                "rows": [len(expected[split]), len(parquet[split]), len(as_lines[split])],
            }
            for split in SPLITS
        },
        "card_lines": digest(list(card["lines"]["train"])),
        "every_line": sum(len(rows) for rows in every_line.values()),
        "declared": declared == parquet["train"].features == Features.from_arrow_schema(schema_of_parquet()),
        "columns": parquet["train"].column_names,
        "snippets": count,
        "trl_rows": len(trl),
        "trl_calls": len(calls),
        "trl_calls_with_objects": sum(isinstance(call["arguments"], dict) for call in calls),
        "trl_tools": digest([row["tools"] for row in trl]),
        "expected_tools": digest([row["tools"] for row in expected["train"]]),
    },
    sys.stdout,
)
