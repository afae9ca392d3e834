"""LangChain's `ChatOpenAI` over `prove-node serve`."""

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from served import PATIENCE_S
from serving import MODEL, QUESTION, TOO_LONG, served_model, tools

__all__ = ["served_model", "tools"]


@pytest.fixture
def model(served_model, tools):
    chat = ChatOpenAI(
        model=MODEL,
        base_url=served_model,
        api_key="none",
        temperature=0,
        max_tokens=200,
        max_retries=0,
        timeout=PATIENCE_S,
        # Without it, the client sends stream options that this server has too.
        stream_usage=True,
    )
    return chat.bind_tools(tools)


def test_a_call_is_made_and_its_result_is_answered_the_same_streamed_and_whole(model):
    first = model.invoke([HumanMessage(QUESTION)])
    assert isinstance(first, AIMessage)
    (call,) = first.tool_calls
    assert call["name"] == "list_accounts"
    messages = [HumanMessage(QUESTION), first, ToolMessage('{"accounts":[]}', tool_call_id=call["id"])]
    whole = model.invoke(messages)
    streamed = "".join(chunk.text for chunk in model.stream(messages))
    assert whole.text == streamed


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_conversation_over_the_context_limit_is_the_same_error_either_way(model, way):
    with pytest.raises(ContextOverflowError):
        list(getattr(model, way)([HumanMessage(TOO_LONG)]))
