"""Small pictures as SVG text: plain shapes, no scripts, nothing fetched."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BEFORE, AFTER, RISK = "#8a8f98", "#1f6f8b", "#b3402a"


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
    taken: list[tuple[float, float]] = []
    for dot in sorted(dots, key=lambda dot: (-dot.y, dot.x)):
        x, y = left + dot.x * across, height - bottom - dot.y * up
        fill = "#fff" if dot.is_hollow else RISK
        shapes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{RISK}"'
            ' stroke-width="2"/>'
        )
        place = y + 4
        while any(abs(place - other) < 13 and abs(x - at) < 130 for at, other in taken):
            place += 13
        taken.append((x, place))
        shapes.append(_text(x + 9, place, dot.label, "start"))
    return _picture(title, width, height, shapes)


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
