"""The program that OpenEnv serves: tasks of the folder `tasks`, or of the server that PROVE_WORLDS_URL names."""

import os

from prove_worlds import Worlds
from prove_worlds.openenv import create_prove_app

# Ends with this process, however that ends.
worlds = Worlds() if "PROVE_WORLDS_URL" in os.environ else Worlds.start(os.environ.get("PROVE_TASKS", "tasks"))
app = create_prove_app(worlds)


def main() -> None:
    import uvicorn

    uvicorn.run(app, host="0.0.0.0", port=8000)


if __name__ == "__main__":
    main()
