"""The folder of a run: new or empty, and found writable before the run begins."""

import tempfile
from pathlib import Path

from ridgeway.errors import RunFolderError


def new_folder(path: str | Path) -> Path:
    """Return a new or empty folder, which exists then, or raise."""
    folder = Path(path)
    if not str(path):
        raise RunFolderError("the name of the folder is empty. Pass a name.")
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
        entries = sorted(entry.name for entry in folder.iterdir())
        if not entries:
            tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise RunFolderError(f"cannot write to {folder}: {error.strerror}. Choose another folder.") from None
    if entries:
        raise RunFolderError(f"{folder} already contains {entries[0]}. Choose a new or empty folder.")
    return folder
