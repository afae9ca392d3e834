from types import SimpleNamespace


def create_app(env, action_cls, observation_cls, env_name=None, max_concurrent_envs=None):
    """`env` is called without arguments for each connection."""
    return SimpleNamespace(
        env=env, actions=action_cls, observations=observation_cls, name=env_name, most=max_concurrent_envs
    )
