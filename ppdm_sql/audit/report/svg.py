"""Small pictures as SVG text: plain shapes, no scripts, nothing fetched."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BEFORE, AFTER, RISK = "#8a8f98", "#1f6f8b", "#b3402a"
_LETTER, _LINE = 6.2, 13.0
"""How wide a letter and how high a line of a label is, about."""
_HATCH = 8.0
"""As high as a hatched bar must be to be seen as one."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its height between 0 and 1, what stands under it and above it."""

    height: float
    below: str = ""
    above: str = ""
    is_hidden: bool = False
    """Whether its height is not to be shown: hatched, as high as it may be."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a scatter, x and y between 0 and 1."""

    x: float
    y: float
    label: str
    is_hollow: bool = False


def bars(title: str, values: Sequence[Bar], color: str, width: int, height: int) -> str:
    """Return a bar chart; the tallest bar fills the height."""
    top, bottom = (18, 22) if any(bar.below or bar.above for bar in values) else (2, 2)
    tallest = max((bar.height for bar in values), default=0) or 1.0
    step = width / max(len(values), 1)
    shapes = []
    for index, bar in enumerate(values):
        size = (height - top - bottom) * bar.height / tallest
        if bar.is_hidden:
            size = max(size, _HATCH)
        x, y = index * step + 1, height - bottom - size
        fill = "url(#hidden)" if bar.is_hidden else color
        shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(step - 2, 1):.1f}" height="{size:.1f}"'
            f' fill="{fill}"/>'
        )
        middle = index * step + step / 2
        shapes.append(_text(middle, height - 6, bar.below, "middle"))
        shapes.append(_text(middle, max(y - 4, 11), bar.above, "middle"))
    line = height - bottom
    shapes.append(f'<line x1="0" y1="{line}" x2="{width}" y2="{line}" stroke="#444"/>')
    return _picture(title, width, height, shapes)


def scatter(title: str, x_label: str, y_label: str, dots: Sequence[Dot]) -> str:
    """Return a scatter of labelled points in the unit square; labels avoid each other."""
    width, height, left, bottom, top, right = 680, 380, 56, 44, 16, 150
    across, up = width - left - right, height - bottom - top
    shapes = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + tick * across, height - bottom - tick * up
        shapes.append(f'<line x1="{left}" y1="{y}" x2="{left + across}" y2="{y}" stroke="#ddd"/>')
        shapes.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{height - bottom}" stroke="#ddd"/>')
        shapes.append(_text(left - 8, y + 4, f"{tick:g}", "end"))
        shapes.append(_text(x, height - bottom + 16, f"{tick:g}", "middle"))
    shapes.append(_text(left + across / 2, height - 8, x_label, "middle"))
    shapes.append(
        f'<text transform="translate(14 {top + up / 2:.1f}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    placed = [
        (dot, left + dot.x * across, height - bottom - dot.y * up)
        for dot in sorted(dots, key=lambda dot: (-dot.y, dot.x))
    ]
    # Labels first: they stand beside dots of others, never on them.
    taken = [_Box(x - 7, y - 7, x + 7, y + 7) for _, x, y in placed]
    texts = []
    for dot, x, y in placed:
        # Of dots on one place only the last is seen: each label says which kind its own is.
        label = f"{'○' if dot.is_hollow else '●'} {dot.label}"
        box = _free_place(x, y, _LETTER * len(label), taken, width, height - bottom)
        taken.append(box)
        if abs(box.middle - y) > _LINE:
            edge = box.left - 2 if box.left > x else box.right + 2
            texts.append(
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{edge:.1f}" y2="{box.middle:.1f}"'
                ' stroke="#999" stroke-width="0.7"/>'
            )
        texts.append(_text(box.left, box.middle + 4, label, "start"))
    circles = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{"#fff" if dot.is_hollow else RISK}"'
        f' stroke="{RISK}" stroke-width="2"/>'
        for dot, x, y in placed
    ]
    return _picture(title, width, height, [*shapes, *texts, *circles])


@dataclass(frozen=True, slots=True)
class _Box:
    """A rectangle that a shape or a text takes."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def _free_place(
    x: float, y: float, size: float, taken: Sequence[_Box], width: float, floor: float
) -> _Box:
    """Return the place nearest to a dot, right or left of it, that nothing takes."""
    for step in range(60):
        middle = y + (step + 1) // 2 * (_LINE if step % 2 else -_LINE)
        for left in (x + 9, x - 9 - size):
            box = _Box(left, middle - _LINE / 2, left + size, middle + _LINE / 2)
            is_inside = left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= floor
            if is_inside and not any(box.meets(other) for other in taken):
                return box
    return _Box(x + 9, y - _LINE / 2, x + 9 + size, y + _LINE / 2)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    if not text:
        return ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _picture(title: str, width: int, height: int, shapes: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>'
        f"{''.join(shapes)}</svg>"
    )
