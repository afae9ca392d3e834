from types import SimpleNamespace


class Sample(SimpleNamespace):
    pass


class MemoryDataset(list):
    def __init__(self, samples, name):
        super().__init__(samples)
        self.name = name
