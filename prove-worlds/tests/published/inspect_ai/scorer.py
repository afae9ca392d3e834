from types import SimpleNamespace

Scorer = Target = object


class Score(SimpleNamespace):
    pass


def scorer(metrics):
    assert all(callable(metric) for group in metrics.values() for metric in group)
    return lambda func: func


def accuracy():
    return sum


def mean():
    return sum


def stderr():
    return sum
