"""The style of the report: the common one, and the painted page.

Every colour comes with a label or a line style, so that none is needed to read the report.
"""

from __future__ import annotations

from quire.reports.frame import STYLE as FRAME

STYLE = (
    FRAME
    + """
ol.steps { margin: 0; padding-left: 1.4rem; } .steps li { margin: .3rem 0; overflow-wrap: anywhere; }
code { font-size: .92em; }
.paintings { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.1rem; }
.painting { background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: .8rem 1rem; min-width: 0; font-size: .82rem; line-height: 1.4; overflow-wrap: anywhere; }
.painting h3 { margin: 0 0 .4rem; font-size: 1rem; }
.words { max-height: 40rem; overflow: auto; margin-top: .7rem; }
.part { margin: .3rem 0; padding: .25rem .5rem; border-left: 4px solid var(--line); border-radius: 3px; background: color-mix(in srgb, var(--part) 16%, transparent); border-left-color: var(--part); }
.part > .label { display: block; font-size: .72rem; font-weight: 600; color: var(--ink); }
.approximate { border-left-style: dashed; } .isolated, .paced { border-left-style: dotted; } .private { border-left-style: double; }
.few { --part: var(--hue5); } .some { --part: var(--hue1); } .most { --part: var(--hue2); }
.unsure { --part: var(--hue3); } .hour { --part: var(--hue1); } .day { --part: var(--hue4); } .long { --part: var(--hue0); }
svg .few { fill: var(--hue5); } svg .some { fill: var(--hue1); } svg .most { fill: var(--hue2); }
svg .unsure { fill: var(--hue3); } svg .hour { fill: var(--hue1); } svg .day { fill: var(--hue4); } svg .long { fill: var(--hue0); }
.sample { color: var(--dim); display: block; }
.differs { margin: .3rem 0 0; } .differs li { margin: .15rem 0; }
del, ins { text-decoration: none; border-radius: 3px; padding: 0 .2em; }
del { background: color-mix(in srgb, var(--hue3) 22%, transparent); } ins { background: color-mix(in srgb, var(--hue2) 22%, transparent); }
.leave td { color: var(--dim); }
.what { min-width: 22rem; } .wide th, .wide td { padding-left: .55rem; padding-right: .55rem; }
th { overflow-wrap: normal; }
/* On a phone each part is a card: its words first, then its figures with their names. */
@media (max-width: 40rem) {
  .ranked thead { clip-path: inset(50%); position: absolute; height: 1px; overflow: hidden; }
  .ranked, .ranked tbody { display: block; }
  .ranked tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--line); padding: .3rem 0; }
  .ranked td { border: 0; } .ranked .what { flex: 1; min-width: calc(100% - 4rem); width: 0; }
  .ranked td[data-label] { font-size: .8rem; padding-bottom: 0; white-space: normal; }
  .ranked td[data-label]::before { color: var(--dim); content: attr(data-label) " "; }
}
tr:target { outline: 2px solid var(--link); }
.chart { display: block; width: 100%; height: auto; background: var(--card); border: 1px solid var(--line); border-radius: 9px; }
.chart text { fill: var(--ink); font: 12px system-ui, sans-serif; } .chart .quiet { fill: var(--dim); font-size: 11px; }
.curve { fill: none; stroke-width: 2; } .edge { fill: none; stroke: var(--dim); stroke-opacity: .35; }
.line0 { stroke: var(--ink); } .line1 { stroke: var(--hue0); stroke-dasharray: 7 3; } .line2 { stroke: var(--hue1); stroke-dasharray: 2 3; }
.line3 { stroke: var(--hue2); stroke-dasharray: 10 3 2 3; } .line4 { stroke: var(--hue3); stroke-dasharray: 4 4; } .line5 { stroke: var(--hue4); stroke-dasharray: 12 4; }
.object { fill: var(--paper); stroke: var(--ink); } .object.lp { stroke: var(--hue4); } .object.shared { stroke: var(--hue2); stroke-width: 2; }
.sample-line { width: 2.4em; height: .7em; margin-right: .4em; }
"""
)
