"""Names that are loaded when they are asked for, because what they need may not be installed."""

from collections.abc import Callable, Mapping
from importlib import import_module

from .errors import MissingFramework


def lazy(package: str, framework: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """
    A `__getattr__` for a package.

    Args:
        framework: The module that must be installed.
        modules: The names, and the module of the package that has each.
    """

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f".{modules[name]}", package)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != framework:
                raise
            raise MissingFramework(framework, f"{package}.{name}") from error
        return getattr(module, name)

    return find
