"use strict";
// The graph of an episode: a row for each distinct state, in the order in which they were first seen.
//
// The way that led to the last state runs straight down at the left: that is what the agent committed to. What it
// explored and left again stands in lanes to the right of it. A step back to a state that was known is an arc at the
// left; a rollback is one in another colour. Nothing is placed by chance, so the same episode always looks the same.

const ROW_HEIGHTS = [6, 9, 12, 15, 19, 24, 30, 36];
const LABELS_FROM = 12; // lower rows have no room for a text
const USUAL_ROW = 24;
const DEEPEST = 5; // κ has a colour of its own up to here

/** What is to be drawn: states with a lane each, and the edges between them, with the steps that took them. */
function graphOf(moments) {
  const rowOf = new Map(), states = [], at = [];
  moments.forEach((moment, t) => {
    let row = rowOf.get(moment.print);
    if (row === undefined) {
      row = states.length;
      rowOf.set(moment.print, row);
      states.push({ row, parent: t ? at[t - 1] : -1, reachedBy: t - 1, visits: [], loops: [], children: [], lane: -1 });
    }
    states[row].visits.push(t);
    at.push(row);
  });
  for (const state of states) if (state.parent >= 0) states[state.parent].children.push(state.row);
  const edges = new Map();
  for (let t = 0; t + 1 < at.length; t++) {
    const [from, to] = [at[t], at[t + 1]];
    if (from === to) { states[from].loops.push(t); continue; }
    const rollback = Boolean(moments[t].did?.rollback);
    const tree = states[to].parent === from && (states[to].reachedBy === t || !rollback);
    const key = `${from}>${to}${rollback ? "r" : ""}${tree ? "t" : ""}`;
    if (!edges.has(key)) edges.set(key, { from, to, rollback, tree, steps: [] });
    edges.get(key).steps.push(t);
  }
  const committed = new Set();
  for (let row = at.at(-1) ?? -1; row >= 0; row = states[row].parent) committed.add(row);
  const lanes = placeInLanes(states, committed);
  const widths = states.map(({ row }) => lanes.findLastIndex(stretches => stretches.some(([a, b]) => a < row + 0.5 && row - 0.5 < b)) + 1);
  return { states, edges: [...edges.values()], at, committed, lanes: lanes.length, widths };
}

/** Each state goes on in the lane of the one before it; where a way forks, all but one branch get lanes of their own.
 * Returns the stretches of rows that each lane is used for. */
function placeInLanes(states, committed) {
  const size = states.map(() => 1);
  for (const state of [...states].reverse()) if (state.parent >= 0) size[state.parent] += size[state.row];
  const heirOf = state => {
    const rank = row => [committed.has(row) ? 1 : 0, size[row], -row];
    const better = (a, b) => { const [x, y] = [rank(a), rank(b)]; const i = x.findIndex((v, k) => v !== y[k]); return x[i] > y[i]; };
    return state.children.reduce((best, row) => (best === null || better(row, best) ? row : best), null);
  };
  const taken = []; // of each lane, the stretches of rows that are in use
  const isFree = (lane, top, bottom) => !(taken[lane] ?? []).some(([a, b]) => top < b && a < bottom);
  for (const head of states) {
    if (head.lane >= 0) continue;
    const chain = [head];
    for (let heir = heirOf(head); heir !== null; heir = heirOf(states[heir])) chain.push(states[heir]);
    const top = Math.max(head.parent, 0), bottom = chain.at(-1).row + 0.5;
    let lane = head.parent < 0 ? 0 : states[head.parent].lane + 1;
    while (!isFree(lane, top, bottom)) lane++;
    (taken[lane] ??= []).push([top, bottom]);
    for (const state of chain) state.lane = lane;
  }
  return taken;
}

class StateGraph {
  /** `onStep(t)` is called when a reader picks a visit. */
  constructor(container, onStep) {
    this.onStep = onStep;
    this.rowHeight = null;
    this.canvas = svg("svg", { class: "graph-lines", "aria-hidden": "true" });
    this.rows = el("ol", { class: "graph-rows" });
    this.sheet = el("div", { class: "graph-sheet" }, this.canvas, this.rows);
    this.scroller = el("div", { class: "graph-scroll" }, this.sheet);
    this.summary = el("span", { class: "graph-summary" });
    const tool = (text, label, action) => el("button", { type: "button", title: label, "aria-label": label, onclick: action }, text);
    container.append(
      el("div", { class: "graph-head" },
        el("h3", { class: "label" }, "State graph"), this.summary,
        el("span", { class: "buttons" },
          tool("−", "Smaller graph", () => this.zoom(-1)),
          tool("+", "Larger graph", () => this.zoom(1)),
          tool("Fit", "The whole graph at once", () => this.fit()))),
      this.scroller,
      el("p", { class: "graph-key", "aria-hidden": "true" },
        el("span", { class: "key-commit" }, "led to the end"), el("span", { class: "key-side" }, "explored and left"),
        el("span", { class: "key-return" }, "return"), el("span", { class: "key-rollback" }, "rollback"),
        el("span", {}, "↻ stayed"), el("span", {}, "number in a node: κ")));
    this.scroller.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1 : -1);
    }, { passive: false });
  }

  show(view) {
    this.view = view;
    this.graph = graphOf(view.moments);
    this.draw();
  }

  zoom(direction) {
    const now = this.height();
    const next = direction > 0 ? ROW_HEIGHTS.find(h => h > now) : ROW_HEIGHTS.findLast(h => h < now);
    if (next) { this.rowHeight = next; this.draw(); this.mark(this.t); }
  }

  fit() {
    const room = (this.scroller.clientHeight - 16) / Math.max(1, this.graph.states.length);
    this.rowHeight = ROW_HEIGHTS.findLast(h => h <= room) ?? Math.max(4, Math.floor(room));
    this.draw();
    this.mark(this.t);
  }

  height() {
    return this.rowHeight ?? USUAL_ROW;
  }

  draw() {
    const { states, edges, lanes, widths } = this.graph;
    const height = this.height(), radius = Math.max(2, Math.min(9, height / 2 - 3));
    const laneWidth = Math.max(6, Math.min(radius * 2.3, 180 / lanes));
    const arcs = edges.filter(edge => !edge.tree);
        const bulge = ({ from, to, rollback }) => Math.min(68, 12 + 9 * Math.sqrt(Math.abs(from - to))) + (rollback ? 5 : 0);
    const left = Math.max(0, ...arcs.map(bulge)) + 8;
    const x = row => left + radius + states[row].lane * laneWidth;
    const y = row => (row + 0.5) * height;

    this.canvas.setAttribute("width", left + lanes * laneWidth + 2 * radius);
    this.canvas.setAttribute("height", states.length * height);
    this.sheet.style.height = `${states.length * height}px`;
    this.lines = edges.map(edge => {
      const ends = edge.tree
        ? branchPath(x(edge.from), y(edge.from), x(edge.to), y(edge.to), height)
        : arcPath(x(edge.from), y(edge.from), x(edge.to) - radius - 2, y(edge.to), left - 2, bulge(edge) * 1.33);
      const kind = [edge.tree ? "tree" : "arc", edge.rollback ? "rollback" : "", this.graph.committed.has(edge.to) && edge.tree ? "commit" : ""];
      const weight = 1.3 + Math.min(2, 0.4 * (edge.steps.length - 1));
      const line = svg("path", { class: `edge ${kind.join(" ")}`, d: ends, "stroke-width": edge.tree && this.graph.committed.has(edge.to) ? weight + 1.2 : weight });
      const tip = edge.tree ? null : svg("path", { class: `tip ${kind.join(" ")}`, d: `M${x(edge.to) - radius - 7},${y(edge.to) - 3.5}l5.5,3.5l-5.5,3.5z` });
      return { edge, line, tip };
    });
    this.dots = states.map(state => ({
      circle: svg("circle", { cx: x(state.row), cy: y(state.row), r: radius }),
      number: svg("text", { x: x(state.row), y: y(state.row), dy: ".36em" }),
    }));
    this.canvas.replaceChildren(
      ...this.lines.filter(({ edge }) => !edge.tree).map(({ line }) => line),
      ...this.lines.filter(({ edge }) => edge.tree).map(({ line }) => line),
      ...this.lines.flatMap(({ tip }) => tip ?? []),
      ...this.dots.flatMap(({ circle, number }) => (radius >= 6 ? [circle, number] : [circle])));
    this.items = states.map(state => this.row(state, left + (widths[state.row] - 1) * laneWidth + 2 * radius + 8, height));
    this.rows.replaceChildren(...this.items);
    this.rows.classList.toggle("bare", height < LABELS_FROM);
    const loops = states.reduce((sum, state) => sum + state.loops.length, 0);
    this.summary.textContent = `${plural(states.length, "state")}, ${plural(arcs.reduce((n, edge) => n + edge.steps.length, 0), "return")}` +
      (loops ? `, ${loops} × stayed` : "");
  }

  row(state, width, height) {
    const { moments, outcome } = this.view;
    const by = state.reachedBy < 0 ? "start" : brief(moments[state.reachedBy].did.action ?? "nothing to execute");
    const bad = state.loops.filter(t => moments[t].did?.invalid).length, idle = state.loops.length - bad;
    const isEnd = state.visits.at(-1) === moments.length - 1;
    const visits = state.visits.map(t => t + 1).join(", ");
    const shown = state.visits.slice(0, 3);
    return el("li", { style: `height:${height}px;font-size:${Math.min(13.5, height * 0.72)}px`, class: this.graph.committed.has(state.row) ? "commit" : "" },
      el("button", {
        type: "button", style: `padding-left:${width}px`, title: `${by}\nvisited at ${visits}`,
        "aria-label": `State ${state.row + 1}, reached by ${by}, visited at ${visits}`, onclick: () => this.pick(state),
      },
        el("span", { class: "by" }, by),
        idle ? el("span", { class: "stayed" }, `↻${idle > 1 ? idle : ""}`) : null,
        bad ? el("span", { class: "bad" }, `×${bad > 1 ? bad : ""}`) : null,
        isEnd && outcome === "solved" ? el("span", { class: "won" }, "★") : null),
      el("span", { class: "visits" },
        shown.map(t => el("a", { href: "#", tabindex: "-1", "data-t": t, "aria-label": `Go to moment ${t + 1}`, onclick: event => { event.preventDefault(); this.onStep(t); } }, t + 1)),
        state.visits.length > shown.length ? el("span", { title: visits }, `+${state.visits.length - shown.length}`) : null));
  }

  /** A state that was visited often is gone through visit by visit. */
  pick(state) {
    this.onStep(state.visits.find(t => t > this.t && this.graph.at[this.t] === state.row) ?? state.visits[0]);
  }

  /** Moment t is the present one: what comes after it is faint, and κ is what it was then. */
  mark(t) {
    this.t = t;
    const { states, at } = this.graph;
    const here = at[t];
    states.forEach((state, row) => {
      const { circle, number } = this.dots[row];
      const visits = state.visits.filter(visit => visit <= t).length;
      const depth = Math.max(0, visits - 1);
      circle.setAttribute("class", `node ${visits ? `k${Math.min(depth, DEEPEST)}` : "future"} ${row === here ? "here" : ""}`);
      number.setAttribute("class", `k${Math.min(depth, DEEPEST)}`);
      number.textContent = depth || "";
      this.items[row].classList.toggle("here", row === here);
      this.items[row].classList.toggle("future", !visits);
      if (row === here) this.items[row].setAttribute("aria-current", "step");
      else this.items[row].removeAttribute("aria-current");
    });
    for (const link of this.rows.querySelectorAll("[data-t]")) link.classList.toggle("here", Number(link.dataset.t) === t);
    for (const { edge, line, tip } of this.lines) {
      for (const mark of tip ? [line, tip] : [line]) {
        mark.classList.toggle("future", edge.steps[0] > t);
        mark.classList.toggle("next", edge.steps.includes(t));
        mark.classList.toggle("came", edge.steps.includes(t - 1));
        mark.classList.toggle("near", edge.from === here || edge.to === here);
      }
    }
    this.reveal(here);
  }

  reveal(row) {
    const top = row * this.height(), bottom = top + this.height(), margin = 2 * this.height();
    const { scrollTop, clientHeight } = this.scroller;
    if (top - margin < scrollTop) this.scroller.scrollTop = top - margin;
    else if (bottom + margin > scrollTop + clientHeight) this.scroller.scrollTop = bottom + margin - clientHeight;
  }
}

/** Down to a state that was first reached from here: straight, or over into another lane. */
function branchPath(x0, y0, x1, y1, height) {
  if (x0 === x1) return `M${x0},${y0}V${y1}`;
  const turn = y0 + Math.min(height, y1 - y0);
  return `M${x0},${y0}C${x0},${y0 + height * 0.75} ${x1},${y0 + height * 0.25} ${x1},${turn}V${y1}`;
}

/** Back (or over) to a state that was known: out to the left, and in again. */
function arcPath(x0, y0, x1, y1, left, bulge) {
  return `M${x0},${y0}H${left}C${left - bulge},${y0} ${left - bulge},${y1} ${left},${y1}H${x1}`;
}
