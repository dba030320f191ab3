"""Finds formulas in plain text, such as H_t = (1/n_t)·Σ_{τ<t} X_τᵀX_τ, and says them in LaTeX.

Docstrings and pages write formulas with the characters that a terminal shows. A formula is an expression that contains
at least one symbol that prose does not have: a subscript, a Greek letter, a norm, a root, an accent. `pieces` cuts a
text into prose and formulas with a recursive descent; each method of `Parser` reads one thing and returns its LaTeX, or
None without moving.
"""

import re
from collections.abc import Callable, Iterator

GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
ACCENTED = {"ŵ": r"\hat{w}", "ŷ": r"\hat{y}", "ê": r"\hat{e}", "ȳ": r"\bar{y}", "ẽ": r"\tilde{e}"}
MARKS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar"}
SCRIPT = {"𝓛": r"\mathcal{L}", "ℓ": r"\ell", "∞": r"\infty", "∇": r"\nabla", "∂": r"\partial", "𝔼": r"\mathbb{E}"}
OPERATORS = {"·": r"\cdot", "×": r"\times", "≤": r"\le", "≥": r"\ge", "→": r"\to", "∈": r"\in", "≪": r"\ll"}
OPERATORS |= {"≫": r"\gg", "≈": r"\approx", "≠": r"\ne", "±": r"\pm", "−": "-", "∼": r"\sim", "∝": r"\propto"}
OPERATORS |= dict(zip("=+/<>", "=+/<>", strict=True)) | {"≔": ":="}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵗⁿᵐʲⁱᵖᵏ", "0123456789+-()tnmjipk", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₜⱼᵢₖₙₚ", "0123456789+-tjiknp", strict=True))
FRACTIONS = {"½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}"}
FRACTIONS |= {"⅛": r"\frac{1}{8}"}
SMALL = {"−": "-", "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
BRACKETS = {"(": (")", "(", ")"), "[": ("]", "[", "]"), "‖": ("‖", r"\|", r"\|"), "|": ("|", "|", "|")}
WORDS = ("argmin", "diag", "max", "min", "log", "exp", "det", "inf", "sup", "rank", "tr", "Var", "Cov", "E")
METHODS = re.compile(r"(?:CRR|GR|MN|ES|ORA)(?!\w)")
SUM = re.compile(rf"_\{{[^}}]*[<=>≤≥∈][^}}]*\}}|(?:_\w|_\{{\w+\}})? (?:[A-Za-z](?![A-Za-z])|\(.|[‖√\dŵ{GREEK}])")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e([+-]\d+))?(?![A-Za-z0-9_])")
LETTER = re.compile(rf"[A-Za-z{GREEK}][{''.join(MARKS)}]*")


class Parser:
    """Reads an expression at a place of a text; `strong` says whether it has what prose does not have."""

    def __init__(self, text: str, place: int):
        self.text, self.place, self.strong = text, place, False

    def next(self, count: int = 1) -> str:
        """Return the characters ahead."""
        return self.text[self.place : self.place + count]

    def taken(self, characters: dict[str, str]) -> str | None:
        """Return what a character ahead stands for, and move past it."""
        if not self.next() or self.next() not in characters:
            return None
        self.place += 1
        return characters[self.text[self.place - 1]]

    def trial(self, read: Callable[[], str | None]) -> str | None:
        """Return what was read, or go back."""
        place, strong = self.place, self.strong
        found = read()
        if found is None:
            self.place, self.strong = place, strong
        return found

    def expression(self) -> str | None:
        """Read terms with operators between them."""
        found = self.sign() + (self.term() or "")
        if not found.strip(" -"):
            return None
        while (more := self.trial(self.operation)) is not None:
            found += more
        return found

    def sign(self) -> str:
        """Read a leading minus."""
        return self.taken({"−": "-"}) or ""

    def operation(self) -> str | None:
        """Read an operator and the term after it; spaces on both sides or on neither."""
        spaced = self.next() == " "
        self.place += spaced
        operator = self.taken(OPERATORS)
        if operator is None or (spaced and self.next() != " "):
            return None
        self.place += spaced
        term = self.sign() + (self.term() or "")
        return f" {operator} {term}" if term.strip("-") else None

    def term(self) -> str | None:
        """Read factors without spaces between them, or with one after a sum."""
        found = self.trial(self.factor)
        if found is None:
            return None
        while (more := self.trial(self.further)) is not None:
            found += " " + more
        return found

    def further(self) -> str | None:
        """Read one more factor of a term."""
        if self.next() != " ":
            return self.factor()
        before = self.text[: self.place]
        self.place += 1
        is_sum = re.search(r"(Σ|max|min|sup|inf)(_\{[^}]*\}|_\w)?$", before)
        is_product = re.match(r"[A-Zv-z](?= [−=])", self.text[self.place :]) and before[-1] not in " ,"
        return self.factor() if is_sum or is_product else None

    def factor(self) -> str | None:
        """Read a symbol, a number, a bracket or a root, with its scripts."""
        found = None
        for read in (self.bracket, self.root, self.function, self.number, self.symbol):
            if (found := self.trial(read)) is not None:
                break
        if found is None:
            return None
        while (script := self.trial(self.script)) is not None:
            found += script
        return found

    def bracket(self) -> str | None:
        """Read a list of expressions in brackets, or a norm."""
        if self.next() not in BRACKETS or not self.next():
            return None
        end, left, right = BRACKETS[self.next()]
        self.strong |= self.next() == "‖"
        self.place += 1
        found = self.expression()
        while found is not None and self.next(2) in (", ", "; ", ": "):
            self.place += 2
            more = self.expression()
            found = None if more is None else f"{found}, {more}"
        if found is None or self.next() != end:
            return None
        self.place += 1
        return f"{left}{found}{right}"

    def root(self) -> str | None:
        """Read a square root."""
        if self.taken({"√": ""}) is None:
            return None
        self.strong = True
        inside = self.trial(self.bracket)
        inside = inside[1:-1] if inside else self.trial(self.symbol) or self.trial(self.number)
        return None if inside is None else rf"\sqrt{{{inside}}}"

    def function(self) -> str | None:
        """Read the name of a function before its argument."""
        for word in WORDS:
            if self.text.startswith(word, self.place) and not self.is_after_a_letter():
                after = self.text[self.place + len(word) :]
                if after.startswith(("(", "[", "‖", "_")[: 3 + (word != "E")]) or (
                    after[:1] == " " and after[1:2] in GREEK + "‖("
                ):
                    self.place += len(word)
                    return rf"\operatorname{{{word}}}"
        return None

    def number(self) -> str | None:
        """Read a number, or dots."""
        if (fraction := self.taken(FRACTIONS)) is not None:
            return fraction
        if (dots := self.taken({"…": r"\ldots"})) is not None:
            return dots
        if (match := NUMBER.match(self.text, self.place)) is None:
            match = re.compile(rf"\d+(?=[a-z{GREEK}√(](?![a-zA-Z]))").match(self.text, self.place)
        if match is None or self.is_after_a_letter():
            return None
        self.place = match.end()
        self.strong |= self.next() in RAISED and self.next() != ""
        if match.re is NUMBER and match[1]:
            mantissa = match[0].partition("e")[0]
            return ("" if mantissa == "1" else rf"{mantissa} \cdot ") + f"10^{{{int(match[1])}}}"
        return match[0].replace(",", "{,}")

    def symbol(self) -> str | None:
        """Read one letter, with an accent."""
        for characters in (ACCENTED, SCRIPT):
            if (found := self.taken(characters)) is not None:
                self.strong = True
                return found
        if (method := METHODS.match(self.text, self.place)) and self.text[self.place - 1 : self.place] == "(":
            self.place = method.end()
            return rf"\text{{{method[0]}}}"
        if (match := LETTER.match(self.text, self.place)) is None:
            return None
        after = self.text[match.end() : match.end() + 2]
        if match[0][0].isascii() and (self.is_after_a_letter() or re.match(r"[A-Za-z](?!_)|_[a-z]{2}", after)):
            return None
        self.place = match.end()
        self.strong |= match[0][0] in GREEK or len(match[0]) > 1
        if match[0] == "Σ" and SUM.match(self.text, self.place):
            return r"\sum"
        return f"\\{MARKS[match[0][1]]}{{{match[0][0]}}}" if len(match[0]) > 1 else match[0]

    def is_after_a_letter(self) -> bool:
        """Say whether the place is within a word; a letter may follow a subscript."""
        before = self.text[max(self.place - 3, 0) : self.place]
        return bool(re.search(r"[A-Za-z0-9`'’-]$", before)) and not re.search(r"(_[\w*]|\d)$", before)

    def script(self) -> str | None:
        """Read a subscript or a superscript."""
        if self.next(3) == "⁽ᵀ⁾":
            self.place += 3
            return "^{(T)}"
        for characters, mark in ((RAISED, "^"), (LOWERED, "_")):
            found = ""
            while (one := self.taken(characters)) is not None:
                found += one
            if found:
                self.strong = True
                return f"{mark}{{{found}}}"
        if self.taken({"ᵀ": ""}) is not None:
            self.strong = True
            return r"^{\top}"
        sign = self.taken({"_": "_", "^": "^"})
        inside = None if sign is None else self.within()
        self.strong = True
        return None if inside is None else f"{sign}{{{inside}}}"

    def within(self) -> str | None:
        """Read what a script holds: a group in braces, or one character."""
        if match := re.compile(r"\{([^{}]*(?:_\{[^{}]*\})?[^{}]*)\}|\(([^()]*)\)").match(self.text, self.place):
            self.place = match.end()
            return formula(match[1] or match[2]) or rf"\text{{{match[1] or match[2]}}}"
        if match := re.compile(rf"−?(\d+|[½¼¾⅓⅔⅛]|\*,\w|[*+]|[A-Za-z{GREEK}])").match(self.text, self.place):
            after = self.text[match.end() : match.end() + 2]
            if match[1].isascii() and match[1].isalpha() and re.match(r"[A-Za-z0-9][a-z]|[A-Za-z0-9]$", after):
                return None
            self.place = match.end()
            return "".join(SMALL.get(char, char) for char in match[0])
        return None


def formula(text: str) -> str | None:
    """Return the LaTeX of a text that is one expression, or None."""
    parts = [part.strip() for part in text.split(",")]
    found = []
    for part in parts:
        parser = Parser(part, 0)
        found.append(parser.expression())
        if found[-1] is None or parser.place != len(part):
            return None
    return ", ".join(filter(None, found))


def pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the parts of a text in order, each with its LaTeX, or with None if it is prose."""
    text = text.replace(":=", "≔")
    begin = place = 0
    while place < len(text):
        parser = Parser(text, place)
        found = None
        if not re.match(r"[\w`]", text[place - 1 : place]) and text[place] != " ":
            found = parser.expression()
        if found is None or not parser.strong:
            place += 1
            continue
        if begin < place:
            yield text[begin:place], None
        yield text[place : parser.place], found
        begin = place = parser.place
    if begin < len(text):
        yield text[begin:], None
