"""Import an optional package, or say which extra brings it.

Heavy packages are imported where they are used. Without this module each of those
places would have to explain in its own words how to install what is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from placement_lab.errors import MissingDependencyError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["require"]


def require(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        The module, such as ``torch`` or ``sklearn.ensemble``.
    extra : str
        The extra of this package that installs it.
    needed_by : str
        What cannot work without it, in words for the message.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingDependencyError
        If the package is not installed. A package that is installed but fails to
        import raises its own error: our advice would not help.

    Examples
    --------
    >>> require("json", extra="train", needed_by="the example").__name__
    'json'
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = (
            f"{needed_by} needs the optional package {package!r}; "
            f"install it with: pip install 'placement-lab[{extra}]'"
        )
        raise MissingDependencyError(message, name=package) from error
