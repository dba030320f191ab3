"""Draw the mark of the project, docs/_static/mark.svg, and the card that other sites show, docs/_static/card.png."""

from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.patches import FancyBboxPatch, Polygon

STATIC = Path(__file__).with_name("_static")
SKY, WAY = "#12324a", "#f5a623"
RIDGES = {
    "#3f7fae": [(0, 36), (14, 22), (26, 33), (42, 13), (64, 34)],
    "#86b9dc": [(0, 46), (18, 33), (32, 43), (48, 27), (64, 41)],
    "#e8f3fb": [(0, 55), (15, 47), (34, 53), (50, 41), (64, 50)],
}
"""The outlines of the ridges from back to front, in a square of 64 units with y downwards."""


def write_svg(path: Path) -> None:
    """Write the mark: ridges one behind the other, and the way along the highest."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="Ridgeway">']
    lines += ['<clipPath id="tile"><rect width="64" height="64" rx="13"/></clipPath>', '<g clip-path="url(#tile)">']
    lines += [f'<rect width="64" height="64" fill="{SKY}"/>']
    for colour, outline in RIDGES.items():
        points = " ".join(f"{x},{y}" for x, y in [*outline, (64, 64), (0, 64)])
        lines += [f'<polygon points="{points}" fill="{colour}"/>']
    way = " ".join(f"{x},{y}" for x, y in next(iter(RIDGES.values())))
    style = f'fill="none" stroke="{WAY}" stroke-width="3.5" stroke-linejoin="round"'
    lines += [f'<polyline points="{way}" {style}/>', "</g>", "</svg>"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_card(path: Path) -> None:
    """Write a picture of 1200 by 630 pixels: the mark, the name and what it is for."""
    figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1200), ylim=(630, 0))
    axes.set_axis_off()
    tile = FancyBboxPatch((90, 165), 300, 300, boxstyle="round,pad=0,rounding_size=60", facecolor=SKY, linewidth=0)
    axes.add_patch(tile)
    place = [(90 + 300 * x / 64, 165 + 300 * y / 64) for outline in RIDGES.values() for x, y in outline]
    for number, colour in enumerate(RIDGES):
        outline = place[5 * number : 5 * number + 5]
        shape = axes.add_patch(Polygon([*outline, (390, 465), (90, 465)], facecolor=colour))
        shape.set_clip_path(tile)
    (way,) = axes.plot(*zip(*place[:5], strict=True), color=WAY, linewidth=12, solid_joinstyle="round")
    way.set_clip_path(tile)
    axes.text(450, 290, "Ridgeway", fontsize=72, fontweight="bold", color=SKY)
    axes.text(454, 370, "Continual regression that does not forget", fontsize=24, color="#333333")
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    write_svg(STATIC / "mark.svg")
    write_card(STATIC / "card.png")
