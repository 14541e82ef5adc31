"""The style sheet of the template report: the shared one, and the styles of its cards."""

from __future__ import annotations

from quire.reports.frame import STYLE as FRAME

STYLE = (
    FRAME
    + """
.sizes { display: block; width: 100%; height: 34px; border-radius: 5px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr));
  gap: 1.1rem; margin-top: .9rem; }
.card { min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 9px;
  padding: 1rem 1.15rem 1.1rem; display: grid; grid-template-columns: 150px minmax(0, 1fr);
  gap: 0 1.2rem; align-content: start; scroll-margin-top: 1rem; }
.card:target { outline: 2px solid var(--link); }
.card h3 { grid-column: 1 / -1; font-size: 1.05rem; margin: 0 0 .8rem; overflow-wrap: anywhere; }
.picture { grid-row: 2 / span 2; }
.thumbnail { display: block; width: 100%; background: var(--paper); border: 1px solid var(--line);
  border-radius: 4px; }
.loose { color: var(--trouble); font-size: .88em; max-width: 24rem; }
.gone { color: var(--trouble); font-size: .88em; overflow-wrap: anywhere; }
.figures b { font-size: 1.3rem; font-weight: 600; }
.figures span { margin-left: .9em; color: var(--dim); }
.histogram { display: block; width: 100%; max-width: 19rem; height: auto; margin-top: .4rem; }
.histogram rect { fill: var(--bar); }
.mark { fill: var(--ink); }
.scale { display: flex; justify-content: space-between; max-width: 19rem; color: var(--dim);
  font-size: .75rem; }
.pages { min-width: 0; font-size: .88rem; overflow-wrap: anywhere; }
.fit { color: var(--dim); font-variant-numeric: tabular-nums; }
.pages li { display: flex; gap: .6em; } .pages li .fit { flex: none; }
.singles { columns: 24rem 2; column-gap: 2rem; font-size: .88rem; overflow-wrap: anywhere; }
.singles li { break-inside: avoid; padding: .1rem 0; }
.boxes { opacity: .28; } .boxes rect { stroke: var(--card); stroke-width: .6; }
@media (max-width: 560px) {
  .card { grid-template-columns: 96px minmax(0, 1fr); padding: .85rem; gap: 0 .9rem; }
  .picture { grid-row: 2; } .pages { grid-column: 1 / -1; }
}
@media print { .card { break-inside: avoid; } }
"""
)
