"""The gate for optional packages."""

from importlib.util import find_spec

from ridgeway.errors import MissingPackageError


def require(*packages: str, extra: str) -> None:
    """Raise `MissingPackageError` if a package is not installed, naming the extra that provides it.

    Examples
    --------
    >>> require("numpy", extra="cli")
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingPackageError(
            f"this needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed. "
            f"Run: pip install 'ridgeway[{extra}]'"
        )
