"""The version record of this program, stored with every step: a publication names the program that made it."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from . import __version__


@cache
def program_record() -> dict[str, str]:
    """
    Return the versions of the trainer and its numeric libraries, and `sourcesSha256`: the hash over the name, a zero
    byte, the length in decimal, a zero byte and the content of each module, in the order of names.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content = path.read_bytes()
        digest.update(b"%s\0%d\0" % (path.name.encode(), len(content)) + content)
    libraries = {name: version(name) for name in ("torch", "transformers", "peft")}
    return {
        "trainer": __version__,
        "sourcesSha256": digest.hexdigest(),
        "python": platform.python_version(),
        **libraries,
    }
