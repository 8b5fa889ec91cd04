"use strict";
// Plots of the overview, each a card with a title, drawn in SVG or in boxes.

const OUTCOME_ORDER = ["solved", "ended", "steps", "timeout", "agent", "infrastructure"];

function card(title, note, ...content) {
  return el("section", { class: "card" }, el("h3", {}, title), note ? el("p", { class: "hint" }, note) : null, content);
}

function percent(share) {
  if (share === null) return "–";
  return `${(100 * share).toFixed(share === 0 || share === 1 || (share > 0.1 && share < 0.9) ? 0 : 1)} %`;
}

function interval({ rate, low, high }) {
  return rate === null ? "–" : `${(100 * rate).toFixed(1)} % (${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)})`;
}

/** A share for each group, with its interval: [{name, successes, n, rate, low, high}], in the colour of its `arm`. */
function forest(groups) {
  const row = ({ name, arm, successes, n, rate, low, high }) => el("div", { class: "forest-row" },
    el("span", { class: "forest-name", title: name }, arm === undefined ? null : el("i", { class: `swatch arm-${arm}` }), name),
    el("span", { class: "forest-track", role: "img", "aria-label": `${name}: ${interval({ rate, low, high })}, ${successes} of ${n}` },
      el("i", { class: `forest-range ${arm === undefined ? "" : `arm-${arm}`}`, style: `left:${100 * low}%;width:${100 * (high - low)}%` }),
      rate === null ? null : el("i", { class: `forest-dot ${arm === undefined ? "" : `arm-${arm}`}`, style: `left:${100 * rate}%` })),
    el("span", { class: "forest-value" }, `${percent(rate)}`, el("small", {}, ` ${successes}/${n}`)));
  return el("div", { class: "forest" }, groups.map(row),
    el("div", { class: "forest-row forest-axis", "aria-hidden": "true" }, el("span"), el("span", { class: "forest-scale" }, el("span", {}, "0"), el("span", {}, "50"), el("span", {}, "100 %")), el("span")));
}

/** The outcomes of all that was planned, as one bar; `choose` filters by one of them. */
function outcomeBar(outcomes, planned, choose) {
  const parts = [...OUTCOME_ORDER, "missing"].filter(name => outcomes[name]).map(name => [name, outcomes[name]]);
  const say = name => (name === "missing" ? "not played" : OUTCOMES[name]);
  return [
    el("div", { class: "outcome-bar", "aria-hidden": "true" }, parts.map(([name, n]) => el("i", { class: `fill-${name}`, style: `flex:${n}`, title: `${say(name)}: ${n}` }))),
    el("ul", { class: "outcome-key" }, parts.map(([name, n]) => el("li", {},
      el("button", { type: "button", disabled: name === "missing", onclick: () => choose(name) },
        el("i", { class: `swatch fill-${name}` }), say(name), el("b", {}, n), el("small", {}, percent(n / planned)))))),
  ];
}

/** How often values fall where: rows with `outcome`, in two stacked colours, solved and not. */
function histogram(rows, value, { label, from = 0, to = null, whole = false }) {
  const values = rows.map(value);
  const top = to ?? Math.max(1, ...values);
  const wanted = 24;
  const size = whole ? Math.max(1, Math.ceil((top - from + 1) / wanted)) : (top - from) / 20;
  const count = whole ? Math.ceil((top - from + 1) / size) : 20;
  const bins = Array.from({ length: count }, () => [0, 0]);
  rows.forEach((row, i) => bins[Math.min(count - 1, Math.floor((values[i] - from) / size))][row.outcome === "solved" ? 0 : 1]++);
  const highest = Math.max(1, ...bins.map(([a, b]) => a + b));
  const [width, height, left, bottom] = [360, 150, 30, 30];
  const step = (width - left) / count, scale = (height - bottom - 8) / highest;
  const bars = bins.flatMap(([solved, other], i) => {
    const low = from + i * size, high = whole ? low + size - 1 : low + size;
    const span = whole ? (low === high ? `${low}` : `${low}–${high}`) : `${low.toFixed(2)}–${high.toFixed(2)}`;
    const bar = (n, below, kind, said) => n && svg("rect", { class: kind, x: left + i * step + 0.5, width: Math.max(1, step - 1), y: height - bottom - (n + below) * scale, height: n * scale },
      svg("title", {}, `${label} ${span}: ${n} ${said}`));
    return [bar(solved, 0, "bar-solved", "solved"), bar(other, solved, "bar-other", "not solved")].filter(Boolean);
  });
  return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of ${label}` },
    yAxis(highest, left, width, height - bottom, scale), bars,
    xAxis(label, [from, (from + top) / 2, top], value => left + ((value - from) / (whole ? size * count : top - from)) * (width - left), width, height, whole));
}

/** For each run, the share of all that was planned and is solved within so many steps. */
function solvedWithin(runs, width = 360) {
  const longest = Math.max(1, ...runs.flatMap(({ rows }) => rows.map(row => row.steps)));
  const [height, left, bottom] = [150, 30, 30];
  const x = steps => left + (steps / longest) * (width - left - 4), y = share => height - bottom - share * (height - bottom - 8);
  const curves = runs.map(({ name, rows, planned }, i) => {
    const at = rows.filter(row => row.outcome === "solved").map(row => row.steps).sort((a, b) => a - b);
    const path = at.map((steps, k) => `H${x(steps)}V${y((k + 1) / planned)}`).join("");
    return svg("path", { class: `curve arm-${i % 8}`, d: `M${x(0)},${y(0)}${path}H${x(longest)}` }, svg("title", {}, name));
  });
  const grid = [0, 0.5, 1].map(share => [
    svg("line", { class: "grid", x1: left, x2: width, y1: y(share), y2: y(share) }),
    svg("text", { class: "tick end", x: left - 5, y: y(share) + 3.5 }, `${100 * share}`)]);
  return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Share solved within a number of steps" },
    grid, curves, xAxis("steps", [0, longest / 2, longest], x, width, height, true));
}

function yAxis(highest, left, width, base, scale) {
  const ticks = highest < 3 ? [highest] : [Math.floor(highest / 2), highest];
  return [0, ...ticks].map(tick => [
    svg("line", { class: "grid", x1: left, x2: width, y1: base - tick * scale, y2: base - tick * scale }),
    svg("text", { class: "tick end", x: left - 5, y: base - tick * scale + 3.5 }, tick)]).flat();
}

function xAxis(label, ticks, x, width, height, whole) {
  const marks = ticks.map((tick, i) => svg("text", { class: `tick ${i === 0 ? "" : i === ticks.length - 1 ? "end" : "middle"}`, x: x(tick), y: height - 17 },
    whole ? Math.round(tick) : tick.toFixed(1)));
  return [...marks, svg("text", { class: "tick middle", x: (x(ticks[0]) + x(ticks.at(-1))) / 2, y: height - 3 }, label)];
}
