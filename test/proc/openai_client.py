"""Asks a server by OpenAI's own client for Python and reports what it was told, as JSON on stdout.

Input on stdin: {"url": ..., "request": ..., "result": ...}, the result being what every call is answered with.
"""

import json
import sys

from openai import BadRequestError, NotFoundError, OpenAI

job = json.load(sys.stdin)
request = job["request"]
client = OpenAI(base_url=job["url"], api_key="none", max_retries=0)


def calls_of(message):
    return [[call.id, call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls or []]


def refusal(change, kind):
    try:
        client.chat.completions.create(**{**request, **change})
    except kind as error:
        return [error.status_code, error.code, error.param]
    return None


models = [model.id for model in client.models.list()]
first = client.chat.completions.create(**request)
message = first.choices[0].message
calls = calls_of(message)
answered = [
    *request["messages"],
    message,
    *({"role": "tool", "tool_call_id": call, "content": json.dumps(job["result"])} for call, _, _ in calls),
]
second = client.chat.completions.create(**{**request, "messages": answered})

streamed, tokens = [], None
with client.chat.completions.create(
    **{**request, "messages": answered}, stream=True, stream_options={"include_usage": True}
) as stream:
    for chunk in stream:
        streamed += [choice.delta.content for choice in chunk.choices if choice.delta.content]
        tokens = chunk.usage.completion_tokens if chunk.usage else tokens

json.dump(
    {
        "models": models,
        "finish": first.choices[0].finish_reason,
        "calls": calls,
        "answer": second.choices[0].message.content,
        "tokens": second.usage.completion_tokens,
        "streamed": "".join(streamed),
        "streamed_tokens": tokens,
        "refused": [refusal({"top_p": 0.5}, BadRequestError), refusal({"model": "another"}, NotFoundError)],
    },
    sys.stdout,
)
