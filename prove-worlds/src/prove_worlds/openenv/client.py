"""What connects to `prove-server env`, or to the server of `prove_worlds.openenv`, as OpenEnv's clients do."""

from openenv.core.mcp_client import MCPToolClient


class ProveClient(MCPToolClient):
    """
    `reset` takes `task` (an id), or `split` and `index`, or `seed`, and `reward` names a preset. Its observation has
    the tools of the task, and in `metadata` the `messages` to begin with and the `episode_id`. Episodes end with the
    connection, or with its next `reset`.
    """
