from types import SimpleNamespace

from .model import ChatMessageTool

Generate = Solver = object


class TaskState(SimpleNamespace):
    """`sample_id`, `messages`, `tools`, `metadata` and `completed`."""


def solver(func):
    return func


def generating(model):
    """A `Generate` that calls tools until the model says something, as `tool_calls="loop"` does."""

    async def generate(state, tool_calls):
        assert tool_calls == "loop"
        while True:
            state.messages.append(model(state.tools, state.messages))
            calls = state.messages[-1].tool_calls
            if state.completed or not calls:
                return state
            tools = {tool.name: tool for tool in state.tools}
            for name, arguments in calls:
                state.messages.append(ChatMessageTool(await tools[name].tool(**arguments)))
            if state.completed:
                return state

    return generate
