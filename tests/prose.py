"""What a page says in words: its sentences, its numbers, and habits that we avoid."""

import re

WORDS = ["four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]
SHOWN = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|\.\d)")

# DESIGN's table of English. "There is no …" and "is no longer" are idiomatic.
HABITS = (
    r"\banew\b",
    r"\bso many\b",
    r"(?<!there )\bis no\b(?! (\w+er|more|less)\b)",
    r"\bwhere (it|they) (is|are) (none|not)\b",
    r"\bfrom [^.,;:]{1,40} on\b(?=[,.;])",
    r"\bletters\b",
    r"\ba truth\b",
    r"\bhere are none\b",
    r"\bthere is none of\b",
    r"\bas many again\b",
    r"\bheld to be\b",
)


def prose(text):
    """Return a page without code, tables, formulas, comments and the targets of links."""
    text = re.sub(r"^[ \t]*(```+|~~~+).*?^[ \t]*\1[ \t]*$", "", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^ *(>>>|\.\.\.) .*\n(?:(?!\n|>>>)[^\n]*\n)*", "", text, flags=re.M)  # doctests without a fence
    text = re.sub(r"^( {4,}\S.*|\s*\|.*)$", "", text, flags=re.M)
    text = re.sub(r"\$\$.*?\$\$|\$(?:[^$\n]|\n(?!\n))+\$", "X", text, flags=re.S)
    text = re.sub(r"``[^`]+``|`[^`]+`", "X", text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def paragraphs(text):
    """Return headings, list items and paragraphs, each as one line."""
    text = re.sub(r"^\s*([-*]|\d+\.|#+) +", "\n\n", prose(text), flags=re.M)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def sentences(text):
    """Return the sentences of a page; a colon or a semicolon does not end one."""
    found = [part for each in paragraphs(text) for part in re.split(r"(?<=[.!?])[)\"*]* +(?=[\"(*]*[A-Z])", each)]
    return [each for each in found if each]


def too_long(text, limit=30):
    """Return the sentences with more words than the limit."""
    return [each for each in sentences(text) if len(re.findall(r"[^\W_][\w'’.,%-]*", each)) > limit]


def habits(text):
    """Return what a native speaker would stumble over."""
    plain = "\n".join(paragraphs(text))
    return [found[0] for habit in HABITS for found in re.finditer(habit, plain, flags=re.I)]


def numbers(text):
    """Return the numbers of the prose as they are written; words from four to thirteen count too."""
    plain = " ".join(paragraphs(text))
    return NUMBER.findall(plain) + [word for word in re.findall(r"\b[a-z]+\b", plain.lower()) if word in WORDS]


def is_backed(number, printed):
    """Say whether a number of the prose is one that was printed: itself, rounded, or as a percentage."""
    text = str(WORDS.index(number) + 4) if number in WORDS else number.replace(",", "")
    wanted, decimals = float(text), len(text.partition(".")[2])
    shown = [float(each.replace(",", "")) for each in SHOWN.findall(printed.replace("_", ""))]
    return any(round(value, decimals) == wanted for each in shown for value in (each, 100 * each, 100 * each - 100))
