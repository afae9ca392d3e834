class Environment:
    SUPPORTS_CONCURRENT_SESSIONS = False

    def __init__(self, transform=None, rubric=None):
        self.transform, self.rubric = transform, rubric
