"""OpenEnv client of the server in `prove_worlds.openenv`."""

from typing import Any

from openenv.core.mcp_client import MCPToolClient


class ProveClient(MCPToolClient):
    """
    OpenEnv client for PROVE tasks.

    `reset` accepts `task` (an id), or `split` and `index`, or `seed`. `reward` names a reward preset. The observation
    of a reset contains the tools of the task. Its `metadata` contains the opening `messages` and the `episode_id`. An
    episode ends with the connection or with the next `reset`.

    The metadata of a `CallToolAction` may have `prove/message`, `{"text": …, "more": …}`: the text that the model wrote
    next to the call, and whether the message has further calls.
    """

    def _step_payload(self, action: Any) -> dict[str, Any]:
        return {**super()._step_payload(action), "metadata": action.metadata}
