"""The charts of the page as Vega-Lite, made with altair. The page puts in the data of the cell that is looked
at and the colours of its theme (`config.style` names the marks)."""

from __future__ import annotations

from typing import Any

HEIGHT = 120  # pixels; the width is that of the place


def specs(altair: Any) -> dict[str, Any]:
    """Chart name -> Vega-Lite."""
    charts = {
        "threads": _bars(altair, "threads per program"),
        "registers": _steps(altair, "registers per thread"),
        "shared": _steps(altair, "shared memory per program, KB"),
        "waves": _waves(altair),
    }
    return {
        name: chart.properties(width="container", height=HEIGHT).to_dict() for name, chart in charts.items()
    }


def _height(alt: Any) -> Any:
    """Resident warps, up to the most that there can be (parameter `most`)."""
    return alt.Y("warps:Q", title="warps per SM", axis=alt.Axis(tickMinStep=1, tickCount=4),
                 scale=alt.Scale(domain=[0, alt.ExprRef("most")], nice=False))  # fmt: skip


def _tooltip(alt: Any) -> list[Any]:
    return [alt.Tooltip("words:N", title="at"), alt.Tooltip("ctas:Q", title="programs per SM"),
            alt.Tooltip("warps:Q", title="warps per SM")]  # fmt: skip


def _steps(alt: Any, title: str) -> Any:
    """A limit that falls in steps. Data: `curve` (x, warps, ctas, words) and `here`, one row of the same with
    `label` and `left`, whether the label has no room at the right."""
    x = alt.X("x:Q", title=title, scale=alt.Scale(nice=False))
    y = _height(alt)
    curve = alt.Chart(alt.NamedData("curve")).encode(x=x, y=y)
    here = alt.Chart(alt.NamedData("here")).encode(x=x)
    point = here.encode(y=y)
    # One mark for both sides: a filter would leave one of two data sets empty, of which Vega complains.
    label = here.encode(y=y, text="label:N").mark_text(
        style="here-label",
        dy=-9,
        align=alt.ExprRef("datum.left ? 'right' : 'left'"),
        dx=alt.ExprRef("datum.left ? -8 : 8"),
    )
    return alt.layer(
        curve.mark_area(interpolate="step-before", style="curve-area"),
        curve.mark_line(interpolate="step-before", style="curve-line").encode(tooltip=_tooltip(alt)),
        here.mark_rule(style="here-rule"),
        point.mark_point(style="here-point").encode(tooltip=_tooltip(alt)),
        label,
    ).add_params(alt.param(name="most", value=64))


def _bars(alt: Any, title: str) -> Any:
    """The same for sizes that are powers of two."""
    x = alt.X("x:O", title=title, axis=alt.Axis(labelAngle=0))
    y = _height(alt)
    curve = alt.Chart(alt.NamedData("curve")).encode(x=x, y=y)
    here = alt.Chart(alt.NamedData("here")).encode(x=x, y=y)
    return alt.layer(
        curve.mark_bar(style="curve-bar").encode(tooltip=_tooltip(alt)),
        here.mark_bar(style="here-bar").encode(tooltip=_tooltip(alt)),
        here.mark_text(style="here-label", dy=-8).encode(text="label:N"),
    ).add_params(alt.param(name="most", value=64))


def _waves(alt: Any) -> Any:
    """Waves one after the other, as high as they fill the GPU. Data: `waves` (start, end, low, high, kind, words,
    label). The kinds are full, last, and idle for what the last one leaves empty; the page colours them in this
    order."""
    kinds = ["full", "last", "idle"]
    x = alt.X("start:Q", title="time, in waves", scale=alt.Scale(nice=False),
              axis=alt.Axis(tickMinStep=1, format="d"))  # fmt: skip
    y = alt.Y("high:Q", title="places filled", scale=alt.Scale(domain=[0, 1]),
              axis=alt.Axis(format="%", tickCount=3))  # fmt: skip
    waves = alt.Chart(alt.NamedData("waves"))
    bars = waves.encode(
        x=x,
        x2="end:Q",
        y=y,
        y2="low:Q",
        fill=alt.Fill("kind:N", legend=None, scale=alt.Scale(domain=kinds)),
        strokeDash=alt.StrokeDash(
            "kind:N", legend=None, scale=alt.Scale(domain=kinds, range=[[1, 0], [1, 0], [2, 2]])
        ),
        tooltip=[alt.Tooltip("words:N", title="wave")],
    )
    label = waves.encode(x="end:Q", y=alt.datum(1), text="label:N")  # above the bars, whatever their height
    return alt.layer(
        bars.mark_bar(style="wave"), label.mark_text(style="here-label", align="right", dx=-2, dy=-8)
    )
