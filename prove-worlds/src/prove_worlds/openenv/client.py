"""OpenEnv client of the server in `prove_worlds.openenv`."""

from openenv.core.mcp_client import MCPToolClient


class ProveClient(MCPToolClient):
    """
    OpenEnv client for PROVE tasks.

    `reset` accepts `task` (an id), or `split` and `index`, or `seed`. `reward` names a reward preset. The observation
    of a reset contains the tools of the task. Its `metadata` contains the opening `messages` and the `episode_id`. An
    episode ends with the connection or with the next `reset`.
    """
