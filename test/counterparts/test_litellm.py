"""LiteLLM's `completion` over `prove-node serve`."""

import os

# Its table of prices is part of the package: no request to a server of its makers.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
from served import PATIENCE_S
from serving import MODEL, QUESTION, TOO_LONG, served_model, tools

__all__ = ["served_model", "tools"]


def complete(url, tools, messages, **settings):
    return litellm.completion(
        model=f"openai/{MODEL}",
        api_base=url,
        api_key="none",
        messages=messages,
        tools=tools,
        temperature=0,
        max_tokens=200,
        num_retries=0,
        timeout=PATIENCE_S,
        **settings,
    )


def test_a_call_is_made_and_its_result_is_answered_the_same_streamed_and_whole(served_model, tools):
    question = {"role": "user", "content": QUESTION}
    message = complete(served_model, tools, [question]).choices[0].message
    (call,) = message.tool_calls
    assert call.function.name == "list_accounts"
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"accounts":[]}'}
    messages = [question, message.model_dump(exclude_none=True), result]
    whole = complete(served_model, tools, messages).choices[0].message.content
    parts = complete(served_model, tools, messages, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in parts) == (whole or "")


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_over_the_context_limit_is_the_same_error_either_way(served_model, tools, stream):
    with pytest.raises(litellm.ContextWindowExceededError):
        list(complete(served_model, tools, [{"role": "user", "content": TOO_LONG}], stream=stream))
