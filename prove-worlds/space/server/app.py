"""ASGI application for OpenEnv: serves the data set in `tasks`, or the tasks of the server at PROVE_WORLDS_URL."""

import os

from prove_worlds import Worlds
from prove_worlds.openenv import create_prove_app

# The server ends with this process.
worlds = Worlds() if "PROVE_WORLDS_URL" in os.environ else Worlds.start(os.environ.get("PROVE_TASKS", "tasks"))
app = create_prove_app(worlds)


def main() -> None:
    """Serve the application on port 8000."""
    import uvicorn

    uvicorn.run(app, host="0.0.0.0", port=8000)


if __name__ == "__main__":
    main()
