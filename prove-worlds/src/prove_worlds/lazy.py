"""Lazy imports of names whose frameworks may not be installed."""

from collections.abc import Callable, Mapping
from importlib import import_module

from .errors import MissingFramework


def lazy(package: str, framework: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """
    Return a `__getattr__` for a package that imports names on first use.

    Args:
        package: Name of the package.
        framework: Module that must be installed.
        modules: Module of the package that defines each name, by the name.
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
