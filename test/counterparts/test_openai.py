"""OpenAI's client for Python over `prove-node serve`."""

import json

import pytest
from openai import BadRequestError, NotFoundError, OpenAI
from served import PATIENCE_S
from serving import MODEL, QUESTION, TOO_LONG, served_model, tools

__all__ = ["served_model", "tools"]


@pytest.fixture
def client(served_model):
    return OpenAI(base_url=served_model, api_key="none", max_retries=0, timeout=PATIENCE_S)


def asked(tools, **change):
    messages = [{"role": "user", "content": QUESTION}]
    return {"model": MODEL, "messages": messages, "tools": tools, "temperature": 0, "max_tokens": 200, **change}


def test_a_call_is_made_and_its_result_is_answered_the_same_streamed_and_whole(client, tools):
    assert MODEL in [model.id for model in client.models.list()]
    first = client.chat.completions.create(**asked(tools))
    assert first.choices[0].finish_reason == "tool_calls"
    message = first.choices[0].message
    (call,) = message.tool_calls
    assert call.function.name == "list_accounts"
    assert isinstance(json.loads(call.function.arguments), dict)
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"accounts":[]}'}
    messages = [{"role": "user", "content": QUESTION}, message, result]
    whole = client.chat.completions.create(**asked(tools, messages=messages))
    options = {"include_usage": True}
    request = asked(tools, messages=messages, stream=True, stream_options=options)
    with client.chat.completions.create(**request) as parts:
        chunks = list(parts)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    made = [call.function for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or ()]
    assert text == (whole.choices[0].message.content or "")
    wanted = [call.function for call in whole.choices[0].message.tool_calls or ()]
    assert "".join(one.arguments or "" for one in made) == "".join(one.arguments for one in wanted)
    assert [chunk.usage.completion_tokens for chunk in chunks if chunk.usage] == [whole.usage.completion_tokens]


def test_a_streamed_call_equals_the_whole_one(client, tools):
    whole = client.chat.completions.create(**asked(tools)).choices[0].message.tool_calls[0].function
    with client.chat.completions.create(**asked(tools), stream=True) as parts:
        made = [call.function for chunk in parts for choice in chunk.choices for call in choice.delta.tool_calls or ()]
    assert "".join(function.name or "" for function in made) == whole.name
    assert "".join(function.arguments or "" for function in made) == whole.arguments


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_over_the_context_limit_is_the_same_error_either_way(client, tools, stream):
    messages = [{"role": "user", "content": TOO_LONG}]
    with pytest.raises(BadRequestError) as error:
        list(client.chat.completions.create(**asked(tools, messages=messages), stream=stream))
    assert error.value.code == "context_length_exceeded"


def test_an_unknown_model_and_an_unsupported_setting_are_errors(client, tools):
    with pytest.raises(NotFoundError):
        client.chat.completions.create(**asked(tools, model="another"))
    with pytest.raises(BadRequestError):
        client.chat.completions.create(**asked(tools, top_p=0.5))
