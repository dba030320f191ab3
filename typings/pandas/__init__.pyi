from typing import Any

class DataFrame:
    iloc: Any
    def __init__(self, data: Any = None) -> None: ...

class Series:
    def __init__(self, data: Any = None) -> None: ...
