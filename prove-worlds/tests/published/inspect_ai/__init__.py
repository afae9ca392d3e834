"""What `prove_worlds.inspect` uses of Inspect 0.3.260, and the order in which that calls it."""

from types import SimpleNamespace


class Task(SimpleNamespace):
    pass


def task(func):
    return func
