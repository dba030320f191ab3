from typing import Any

class DataFrame:
    iloc: Any
    def __init__(self, data: Any = None, index: Any = None, columns: Any = None, copy: bool | None = None) -> None: ...

class MultiIndex:
    @classmethod
    def from_product(cls, iterables: Any, names: Any = None) -> MultiIndex: ...

class Series:
    def __init__(self, data: Any = None, copy: bool | None = None) -> None: ...
