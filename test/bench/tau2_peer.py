"""tau2-bench's side of `npm run bench -- episodes`, from a checkout of it: `tau2_peer.py CHECKOUT episodes | serve`.

`episodes` prints one JSON object: episodes per second in this process, and the memory of an open one. An episode is an
environment of its own for the retail domain, made as its runner makes one for each simulation (`get_environment`, which
reads the domain's data), two calls, and the hash of the data that its reward compares. No model and no user takes part.

`serve` is its own `EnvironmentServer`, which has one environment for all who ask: its requests can be compared, and
episodes it does not have. Its address is on stderr.

The package itself is not imported, only its modules: its `__init__` wants clients of language models, of which nothing
here asks for anything.
"""

import json
import os
import sys
import time
import types
from pathlib import Path

checkout = Path(sys.argv[1]).resolve()
os.environ.setdefault("TAU2_DATA_DIR", str(checkout / "data"))
package = types.ModuleType("tau2")
package.__path__ = [str(checkout / "src" / "tau2")]
sys.modules["tau2"] = package

from loguru import logger  # noqa: E402

logger.remove()

import psutil  # noqa: E402
from tau2.data_model.message import ToolCall  # noqa: E402
from tau2.domains.retail.environment import get_environment  # noqa: E402

EPISODES = 20
USER = "noah_brown_6181"


def play(environment):
    known = ToolCall(id="1", name="get_user_details", arguments={"user_id": USER}, requestor="assistant")
    unknown = ToolCall(id="2", name="get_user_details", arguments={"user_id": "nobody"}, requestor="assistant")
    answers = [environment.get_response(call).error for call in (known, unknown)]
    if answers != [False, True]:
        raise RuntimeError(f"the calls were answered with errors {answers}")
    return environment.get_db_hash()


def episodes():
    play(get_environment())
    process = psutil.Process()
    before = process.memory_info().rss
    began = time.perf_counter()
    opened = [get_environment() for _ in range(EPISODES)]
    hashes = {play(environment) for environment in opened}
    seconds = time.perf_counter() - began
    if len(hashes) != 1:
        raise RuntimeError("the same calls led to different data")
    memory = process.memory_info().rss - before
    print(json.dumps({"episodesPerS": EPISODES / seconds, "memoryBytes": memory / EPISODES}))


def serve():
    import uvicorn
    from tau2.environment.server import EnvironmentServer

    app = EnvironmentServer(get_environment()).app
    uvicorn.run(app, host="127.0.0.1", port=0, access_log=False)


{"episodes": episodes, "serve": serve}[sys.argv[2]]()
