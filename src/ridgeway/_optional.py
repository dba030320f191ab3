"""The gate for optional packages."""

from importlib.util import find_spec

from ridgeway.errors import MissingPackageError

__all__ = ["require"]


def require(*packages: str, extra: str) -> None:
    """Raise where a package is not installed, and name the extra that brings it.

    Examples
    --------
    >>> require("numpy", extra="cli")
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingPackageError(
            f"this needs {' and '.join(missing)}, not installed. Run: pip install 'ridgeway[{extra}]'"
        )
