"""Draw the fixed tree in which the parts of a task are merged: docs/images/parts-tree.svg."""

from pathlib import Path

from ridgeway.distributed._fixed_tree import FixedTree, Place

N_PARTS = 6
WIDTH, ROW, RADIUS = 90, 70, 17
COLOURS = {"part": "#86b9dc", "merged": "#f5a623", "state": "#12324a"}


def write_tree(path: Path) -> None:
    """Write the tree of a few parts, with the state file at the top."""
    found: list[tuple[Place, range]] = []
    tree = FixedTree[range](N_PARTS, lambda left, right: range(left.start, right.stop))
    for leaf in range(N_PARTS):
        found.append((Place(0, leaf), range(leaf, leaf + 1)))
        found += tree.put(Place(0, leaf), range(leaf, leaf + 1))
    top = max(place.level for place, _ in found)
    spots = {span: (WIDTH * (span.start + span.stop) / 2, ROW * (top - place.level + 1.6)) for place, span in found}
    root = (WIDTH * N_PARTS / 2, ROW * 0.5)
    height = int(ROW * (top + 2.2))
    size = f'viewBox="0 0 {WIDTH * N_PARTS} {height}" width="{WIDTH * N_PARTS}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="13">']
    lines += ["<title>Six parts are merged in pairs of neighbours, and the result is committed once</title>"]
    lines += [_line(spots[tree.root], root)]
    for span, spot in spots.items():
        above = [other for other in spots if other != span and {*span} < {*other}]
        if above:
            lines += [_line(spot, spots[min(above, key=len)])]
    for span, (x, y) in spots.items():
        merged = len(span) > 1
        text = f"{span[0]}–{span[-1]}" if merged else str(span[0])
        lines += [f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{COLOURS["merged" if merged else "part"]}"/>']
        lines += [f'<text x="{x}" y="{y + 5}" text-anchor="middle" fill="#111">{text}</text>']
    x, y = root
    lines += [f'<rect x="{x - 60}" y="{y - 16}" width="120" height="32" rx="6" fill="{COLOURS["state"]}"/>']
    lines += [f'<text x="{x}" y="{y + 5}" text-anchor="middle" fill="#fff">one commit</text>', "</svg>"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _line(start: tuple[float, float], stop: tuple[float, float]) -> str:
    ends = f'x1="{start[0]}" y1="{start[1]}" x2="{stop[0]}" y2="{stop[1]}"'
    return f'<line {ends} stroke="#888" stroke-width="1.5"/>'


if __name__ == "__main__":
    write_tree(Path(__file__).parent / "images" / "parts-tree.svg")
