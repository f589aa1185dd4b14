"""How the page of `propose` looks: on a wide screen, on a phone, in the dark, and on paper."""

from typing import Final

__all__ = ["STYLE"]

STYLE: Final = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --paper: #fff; --ink: #1d1f23; --soft: #5b616b; --line: #dfdcd6; --link: #1f4fa8;
  --good: #15653a; --good-bg: #e2f3e8; --fair: #7a4b00; --fair-bg: #fdeecb; --bad: #9c1c1c; --bad-bg: #fde4e1;
  --plain: #454b55; --plain-bg: #ecebe8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --paper: #1d2024; --ink: #e7e6e3; --soft: #a2a8b2; --line: #353940; --link: #9dbdf5;
    --good: #8fdcae; --good-bg: #16341f; --fair: #f2c66b; --fair-bg: #3a2c0c; --bad: #ffa8a0; --bad-bg: #451a18;
    --plain: #c6cad1; --plain-bg: #2c3036;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1, h2, h3, p, ul, ol, dl, blockquote { margin: 0; }
p, li, dd, blockquote, h3 { overflow-wrap: anywhere; }
li, dd, blockquote, .why { white-space: pre-wrap; }
code { font: .875em/1.4 ui-monospace, monospace; }

.good { --tone: var(--good); --tone-bg: var(--good-bg); }
.fair { --tone: var(--fair); --tone-bg: var(--fair-bg); }
.bad { --tone: var(--bad); --tone-bg: var(--bad-bg); }
.plain { --tone: var(--plain); --tone-bg: var(--plain-bg); }
.badge, .verdict { background: var(--tone-bg); color: var(--tone); }
.badge { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; }
.badge { font: 600 .8125rem/1.5 system-ui, sans-serif; }
.verdict { display: inline-block; padding: .3rem .9rem; border-radius: .5rem; }
.verdict::before { font-weight: 700; }
.verdict.good::before { content: "\\2713\\2002" / ""; }
.verdict.fair::before { content: "!\\2002" / ""; }
.verdict.bad::before { content: "\\00d7\\2002" / ""; }

header { display: grid; gap: 1rem; }
h1 { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem; font-size: 1.75rem; line-height: 1.25; }
.why { color: var(--soft); font-size: 1.0625rem; }
.notice, article { border: 1px solid var(--line); border-radius: .5rem; background: var(--paper); }
.notice { padding: .75rem 1rem; border-left: .3rem solid var(--tone); }
.notice strong { font-size: .8125rem; color: var(--soft); }
.lead { font-size: 1.1875rem; line-height: 1.5; }

nav { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin-top: 2rem; padding: .75rem 0; font-size: .875rem; }
nav { border: solid var(--line); border-width: 1px 0; }
a { color: var(--link); text-underline-offset: .2em; }

section { margin-top: 2.75rem; display: grid; gap: .75rem; scroll-margin-top: 1rem; }
section > *, article > *, header > * { min-width: 0; }
h2 { font-size: 1.3125rem; line-height: 1.3; }
.label { margin: .5rem 0 -.5rem; font-weight: 650; }
.label span { color: var(--soft); font-weight: 400; }
blockquote.lead, #the-requirement blockquote { padding-left: 1rem; border-left: .2rem solid var(--line); }
blockquote.lead { border-color: var(--link); }
#the-requirement .label { margin-bottom: 0; }
ul, ol { padding-left: 1.5rem; display: grid; gap: .3rem; }
li::marker { color: var(--soft); font-variant-numeric: tabular-nums; }

article { display: grid; gap: .75rem; padding: 1rem 1.125rem 1.125rem; }
:not(article) + article { margin-top: .5rem; }
h3 { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem .5rem; }
h3 { font-size: 1.0625rem; line-height: 1.4; }
h3 code { color: var(--soft); font-weight: 400; }
h3 > span:not(.badge) { flex-basis: 100%; }

dl { display: grid; gap: .4rem; font-size: .9375rem; }
dl div { display: grid; grid-template-columns: 9.5rem 1fr; gap: 0 1rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; }

.foot { font-size: .9375rem; color: var(--soft); }
.foot h2 { font-size: 1rem; color: var(--ink); }
.foot dd { color: var(--ink); }
section:not(.foot) + .foot { margin-top: 4rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
.foot + .foot { margin-top: 1.75rem; }

@media (max-width: 34rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.4375rem; }
  .lead { font-size: 1.0625rem; }
  dl { gap: .6rem; }
  dl div { grid-template-columns: 1fr; }
}
@media print {
  :root {
    --ground: #fff; --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --link: #000;
    --good: #15653a; --good-bg: #fff; --fair: #7a4b00; --fair-bg: #fff; --bad: #9c1c1c; --bad-bg: #fff;
    --plain: #333; --plain-bg: #fff;
  }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .badge, .verdict { border: 1px solid var(--tone); }
  h2, h3, .label { break-after: avoid; }
  article, li, dl div, .notice { break-inside: avoid; }
  section { margin-top: 1.5rem; }
}
"""
