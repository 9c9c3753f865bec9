"""Plots of measured points on logarithmic axes, as small SVG files."""

import math
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, GAP = 190, 150, 62, 28, 70  # of a frame, and around it


def _power(value):
    return f'10<tspan dy="-4" font-size="7">{round(math.log10(value))}</tspan>'


def _frame(left, title, unit, points):
    """SVG lines of one frame: the points, and in grey what would be linear from the last one down."""
    xs, ys = zip(*points)
    linear = [(x, ys[-1] * x / xs[-1]) for x in xs]
    low, high = min(ys + tuple(y for _, y in linear)), max(ys)
    bottom, top = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def place(x, y):
        across = math.log(x / xs[0]) / math.log(xs[-1] / xs[0])
        return f"{left + across * WIDTH:.1f},{TOP + HEIGHT * (top - math.log10(y)) / (top - bottom):.1f}"

    lines = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             f'<text x="{left + WIDTH / 2}" y="{TOP - 10}" text-anchor="middle">{title}</text>',
             f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 30}" text-anchor="middle">{unit}</text>']
    for power in range(bottom, top + 1):
        height = TOP + HEIGHT * (top - power) / (top - bottom)
        lines.append(f'<path d="M{left} {height:.1f}h{WIDTH}" stroke="#ddd"/>')
        lines.append(f'<text x="{left - 6}" y="{height + 4:.1f}" text-anchor="end">{_power(10 ** power)}</text>')
    for x in (xs[0], xs[-1]):
        lines.append(f'<text x="{place(x, 1).split(",")[0]}" y="{TOP + HEIGHT + 15}" text-anchor="middle">{x:,}</text>')
    lines.append(f'<polyline points="{" ".join(place(*point) for point in linear)}" fill="none" stroke="#999" stroke-dasharray="3"/>')
    lines.append(f'<polyline points="{" ".join(place(*point) for point in points)}" fill="none" stroke="#1565c0" stroke-width="1.5"/>')
    for point in points:
        x, y = place(*point).split(",")
        lines.append(f'<circle cx="{x}" cy="{y}" r="2.5" fill="#1565c0"/>')
    return lines


def write(path, frames):
    """`frames`: (title, name of the x axis, [(x, seconds), ..]) each, x ascending."""
    width, height = LEFT + len(frames) * (WIDTH + GAP), TOP + HEIGHT + 40
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="10">', f'<rect width="{width}" height="{height}" fill="#fff"/>',
             f'<text x="14" y="{TOP + HEIGHT / 2}" transform="rotate(-90 14 {TOP + HEIGHT / 2})" text-anchor="middle">seconds</text>']
    for number, frame in enumerate(frames):
        lines += _frame(LEFT + number * (WIDTH + GAP), *frame)
    Path(path).write_text("\n".join(lines + ["</svg>", ""]))
