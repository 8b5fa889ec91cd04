"use strict";
// The trajectory viewer: an episode step by step, beside the graph of its states.
//
//   const viewer = new EpisodeViewer(container, { picture, onStep });
//   viewer.show(view, moment)   another episode, at one of its moments (0 is before the first step)
//   viewer.update(view)         the same episode, now longer: who looked at its end follows, others stay where they are
//   viewer.go(moment)           viewer.moment is where the reader is
//   viewer.key(event)           handles a key press, and says whether it was one of its own
//
// `view` is what `view_of` in view.py gives. `picture(name)` gives the address of a picture, or {missing: "why"}, or a
// promise of either. `onStep(moment)` is called whenever another moment is shown. The container decides the size.

const OUTCOMES = {
  solved: "solved", ended: "ended unsolved", steps: "out of steps", timeout: "timed out", agent: "agent failed",
  infrastructure: "infrastructure failed", playing: "being played",
};

const VISITS = ["first visit", "second visit", "third visit"];

class EpisodeViewer {
  constructor(container, { picture = () => ({ missing: "There are no pictures here." }), onStep = () => {} } = {}) {
    this.picture = picture;
    this.onStep = onStep;
    this.view = null;
    this.moment = 0;
    // The details that the reader keeps open, from step to step.
    this.opened = new Set(window.innerWidth >= 1200 ? ["offered"] : []);
    this.raw = false; // the screenshot without its marks
    this.isTall = false; // screenshots are those of a phone: text stands beside them
    this.head = el("header", { class: "episode-head" });
    this.strip = el("div", { class: "strip" });
    this.where = el("span", { class: "where", "aria-live": "polite" });
    const move = (text, label, by) => el("button", { type: "button", title: label, "aria-label": label, onclick: () => this.go(this.moment + by) }, text);
    this.reading = el("section", { class: "reading", "aria-label": "The step" });
    const graph = el("section", { class: "graph", "aria-label": "State graph" });
    this.graph = new StateGraph(graph, t => this.go(t));
    this.root = el("div", { class: "viewer" },
      this.head,
      el("nav", { class: "timeline", "aria-label": "Steps of the episode" },
        el("div", { class: "moves" }, move("←", "Previous step (←)", -1), this.where, move("→", "Next step (→)", 1)),
        this.strip),
      el("div", { class: "panes" }, this.reading, graph));
    container.append(this.root);
  }

  show(view, moment = 0) {
    this.view = view;
    this.drawWhole();
    this.go(moment);
  }

  update(view) {
    const wasAtEnd = this.view === null || this.moment >= this.view.moments.length - 1;
    const { moment } = this;
    const isSame = this.view !== null && !wasAtEnd && JSON.stringify(this.view.moments[moment]) === JSON.stringify(view.moments[moment]);
    this.view = view;
    this.drawWhole();
    if (isSame) this.markMoment();
    else this.go(wasAtEnd ? view.moments.length - 1 : moment);
  }

  go(moment) {
    this.moment = Math.max(0, Math.min(this.view.moments.length - 1, moment));
    if (this.view.moments.length) {
      this.markMoment();
      this.reading.replaceChildren(...this.drawMoment(this.view.moments[this.moment]));
    } else {
      this.where.textContent = "no steps";
      this.reading.replaceChildren(el("div", { class: "scroll" }, this.drawFailure("This episode has no steps.")));
    }
    this.onStep(this.moment);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !this.view) return false;
    const last = this.view.moments.length - 1;
    const keys = { ArrowLeft: this.moment - 1, ArrowRight: this.moment + 1, Home: 0, End: last };
    if (Object.hasOwn(keys, event.key)) this.go(keys[event.key]);
    else if (event.key === "m") this.look(!this.raw);
    else if (event.key === "r") this.toggle("response");
    else return false;
    event.preventDefault();
    return true;
  }

  toggle(name) {
    if (!this.opened.delete(name)) this.opened.add(name);
    this.go(this.moment);
  }

  /** At screenshots as they are, or with the marks that agents are given. */
  look(raw) {
    this.raw = raw;
    this.go(this.moment);
  }

  // The whole of the episode

  drawWhole() {
    const { view } = this;
    this.head.replaceChildren(...headOf(view));
    this.cells = view.moments.map((moment, t) => this.cell(moment, t));
    this.strip.replaceChildren(...this.cells);
    this.graph.show(view);
  }

  cell(moment, t) {
    const { view } = this;
    const { did } = moment;
    const kind = did === null ? "" : did.rollback ? "rollback" : did.invalid ? "invalid" : "";
    const solved = did === null && view.outcome === "solved";
    const said = did === null ? `The end: ${OUTCOMES[view.outcome]}` : `Step ${t + 1}: ${did.action ?? "nothing to execute"}`;
    const label = `${said} (κ ${moment.depth}${kind && `, ${kind}`})`;
    return el("button", {
      type: "button", class: `${solved ? "won" : `k${Math.min(moment.depth, DEEPEST)}`} ${kind}`, title: label,
      "aria-label": label, tabindex: "-1", onclick: () => this.go(t),
    }, solved ? "★" : { rollback: "↶", invalid: "×", "": "" }[kind]);
  }

  markMoment() {
    const count = this.view.moments.length - 1;
    this.cells.forEach((cell, t) => {
      cell.classList.toggle("here", t === this.moment);
      cell.tabIndex = t === this.moment ? 0 : -1;
    });
    const last = `${this.view.outcome === "playing" ? "after" : "end of"} ${plural(count, "step")}`;
    this.where.textContent = this.view.moments[this.moment].did === null ? last : `step ${this.moment + 1} of ${count}`;
    this.graph.mark(this.moment);
  }

  // One moment

  drawMoment(moment) {
    const { did } = moment;
    const seen = el("div", { class: "seen" },
      section("State", moment.state, "state"),
      this.details("elements", "Elements", moment.elements === null ? null : el("pre", {}, moment.elements)),
      this.drawOffered(moment));
    const mind = el("div", { class: "mind" }, did === null ? this.drawEnd(moment) : this.drawMind(moment));
    const body = el("div", { class: "scroll", tabindex: "0" }, el("div", { class: "columns" }, this.drawPicture(moment), seen, mind));
    return [this.drawMomentHead(moment), body, ...(did === null ? [] : [drawAction(moment, this.view.moments[this.moment + 1])])];
  }

  drawMomentHead({ did, depth, print }) {
    const times = VISITS[depth] ?? `${depth + 1} visits by now`;
    const flag = did === null ? (this.view.outcome === "solved" ? "won" : "") : did.rollback ? "rollback" : did.invalid ? "invalid" : "";
    const title = did !== null ? `Step ${this.moment + 1}` : this.view.outcome === "playing" ? "Now" : "The end";
    return el("header", { class: "moment-head" },
      el("h2", {}, title),
      el("span", { class: `kappa k${Math.min(depth, DEEPEST)}` }, `κ ${depth} · ${times}`),
      flag ? el("span", { class: `flag ${flag}` }, flag === "won" ? "solved" : flag) : null,
      el("code", { class: "print", title: `fingerprint ${print}` }, print.slice(0, 10)));
  }

  drawMind({ memory, did }) {
    const problems = did.problems.length
      ? el("ul", { class: "problems", "aria-label": "What is wrong with the form" }, did.problems.map(problem => el("li", {}, problem)))
      : null;
    const hasMind = did.think || did.explore || did.memory;
    return [
      problems, section("Think", did.think), section("Explore", did.explore), memorySection(memory, did.memory),
      hasMind || problems ? null : el("p", { class: "none" }, "The agent gave its action alone."),
      this.details("response", "Raw response", did.response ? el("pre", {}, did.response) : null),
      this.details("numbers", "Numbers", numbersOf(did)),
    ];
  }

  drawEnd({ explore, memory }) {
    if (this.view.outcome === "playing") return [section("Explore", explore), memorySection(memory, memory)];
    return [this.drawFailure(""), memorySection(memory, memory)];
  }

  drawFailure(otherwise) {
    const { outcome, error } = this.view;
    return el("section", { class: `ending ${outcome}` },
      el("h3", { class: "label" }, "Outcome"), el("p", { class: "outcome" }, OUTCOMES[outcome] ?? outcome),
      error ? el("p", { class: "text" }, error) : otherwise ? el("p", {}, otherwise) : null);
  }

  drawPicture({ screenshot, marked }) {
    if (!screenshot && !marked) return null;
    const name = (this.raw ? screenshot ?? marked : marked ?? screenshot);
    const image = el("img", { alt: "Screenshot before the step", decoding: "async" });
    const figure = el("figure", { class: this.isTall ? "tall" : "" }, image);
    image.addEventListener("load", () => {
      this.isTall = image.naturalHeight > image.naturalWidth;
      figure.classList.toggle("tall", this.isTall);
    });
    const missing = why => figure.replaceChildren(el("p", { class: "missing" }, why));
    Promise.resolve(this.picture(name)).then(
      found => (typeof found === "string" ? image.setAttribute("src", found) : missing(found.missing)),
      error => missing(`The picture cannot be shown: ${error.message}`));
    if (screenshot && marked && screenshot !== marked) {
      const look = raw => el("button", { type: "button", "aria-pressed": String(this.raw === raw), onclick: () => this.look(raw) }, raw ? "Plain" : "Marked");
      figure.prepend(el("figcaption", { title: "m changes between them" }, look(false), look(true)));
    }
    return figure;
  }

  drawOffered({ offered, did }) {
    if (offered === null) return null;
    const list = el("ul", { class: "offered" }, offered.map(command => el("li", { class: command === did?.action ? "chosen" : "" }, el("code", {}, command))));
    return this.details("offered", plural(offered.length, "valid action"), list);
  }

  details(name, title, content) {
    if (content === null) return null;
    const box = el("details", { open: this.opened.has(name), ontoggle: () => (box.open ? this.opened.add(name) : this.opened.delete(name)) },
      el("summary", {}, title), content);
    return box;
  }
}

function section(title, text, kind = "") {
  return text ? el("section", { class: kind }, el("h3", { class: "label" }, title), el("p", { class: "text" }, text)) : null;
}

function memorySection(before, after) {
  if (!after && !before) return null;
  const parts = before && before !== after ? wordDiff(before, after) : [["same", after]];
  const shown = parts === null ? [after] : parts.map(([kind, text], i) =>
    (kind === "same" ? text : [i && !/\s$/.test(parts[i - 1][1]) ? " " : "", changed(kind, text)]));
  const note = parts === null ? "too long to compare" : before === after ? "unchanged" : before ? "" : "new";
  return el("section", { class: "memory" },
    el("h3", { class: "label" }, "Memory", note ? el("small", {}, ` ${note}`) : null), el("p", { class: "text" }, shown));
}

/** The blanks behind a change are no part of it, so that lines of changed text do not run into a block. */
function changed(kind, text) {
  const words = text.trimEnd();
  const mark = el(kind === "new" ? "ins" : "del", {}, words);
  return [mark, kind === "new" ? text.slice(words.length) : " "];
}

function drawAction({ print, did }, next) {
  return el("footer", { class: "act" },
    el("span", { class: "label" }, "Action"),
    did.action === null ? el("em", {}, "nothing to execute") : el("code", {}, did.action),
    cameOf(print, did, next),
    did.notice ? el("span", { class: "note notice" }, did.notice) : null,
    rewardOf(did));
}

function cameOf(print, did, next) {
  if (did.rollback) {
    const { held, action, reason } = did.rollback;
    if (held) return el("span", { class: "note rollback" }, "back in the state before", action === null ? "" : ` by “${action}”`);
    return el("span", { class: "note rollback" }, `the rollback did not hold: ${reason ?? "no reason given"}`);
  }
  if (did.invalid) return el("span", { class: "note invalid" }, did.action === null ? "does nothing" : "is not possible here");
  if (next.print === print) return el("span", { class: "note" }, "leaves the state as it is");
  return next.depth ? el("span", { class: "note" }, `returns to a state, κ ${next.depth}`) : el("span", { class: "note" }, "a new state");
}

function rewardOf({ reward, parts }) {
  // Parts come before their weights: they do not add up to the reward, and must not look as if they did.
  const split = Object.entries(parts).filter(([, value]) => value !== null);
  if (!reward && !split.some(([, value]) => value)) return null;
  return el("span", { class: "reward" }, `reward ${reward === null ? "not finite" : number(reward)}`,
    split.length > 1 ? el("small", {}, ` · ${split.map(([name, value]) => `${name.replaceAll("_", " ")} ${number(value)}`).join(" · ")}`) : null);
}

function numbersOf(did) {
  const rows = [
    ["Format", did.format_ok ? "right" : "broken"],
    ["Reward", did.reward === null ? "not finite" : number(did.reward)],
    ...Object.entries(did.parts).map(([name, value]) => [`· ${name.replaceAll("_", " ")}`, value === null ? "not finite" : number(value)]),
    ["Prompt", did.prompt_tokens ? plural(did.prompt_tokens, "token") : null],
    ["Response", did.response_tokens ? plural(did.response_tokens, "token") : null],
    ["Requests", did.calls || null],
    ["Finished by", did.finish || null],
    ["Agent", did.agent_seconds ? seconds(did.agent_seconds) : null],
    ["Environment", did.env_seconds ? seconds(did.env_seconds) : null],
  ];
  return el("dl", { class: "numbers" }, rows.filter(([, value]) => value !== null).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function headOf(view) {
  const facts = [
    view.source && `source ${view.source}`, view.split && `split ${view.split}`, view.seed !== null && view.seed !== undefined && `seed ${view.seed}`,
    ...Object.entries(view.facts).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`),
  ].filter(Boolean);
  const steps = Math.max(0, view.moments.length - 1);
  const distinct = new Set(view.moments.map(moment => moment.print)).size;
  const rolled = view.moments.filter(moment => moment.did?.rollback), invalid = view.moments.filter(moment => moment.did?.invalid);
  const tile = (name, value, more, kind = "") => el("div", { class: kind }, el("dt", { class: "label" }, name), el("dd", {}, value, el("small", {}, more)));
  return [
    el("div", { class: "title" },
      el("h1", { class: view.goal ? "goal" : "" }, view.goal || view.task || "An episode"),
      el("p", { class: "facts", title: [view.task, ...facts].join(" · ") },
        el("code", {}, view.task), facts.map(fact => el("span", {}, fact)))),
    el("dl", { class: "tiles" },
      tile("Outcome", OUTCOMES[view.outcome] ?? view.outcome, plural(steps, "step"), `outcome ${view.outcome}`),
      tile("States", distinct, "distinct"),
      tile("Exploration", view.degree.toFixed(2), `${view.degree_no_loops.toFixed(2)} without self-loops`),
      tile("Invalid", invalid.length, steps ? `${Math.round((100 * invalid.length) / steps)} %` : ""),
      tile("Rollbacks", rolled.length, rolled.length ? `${rolled.filter(moment => moment.did.rollback.held).length} held` : "none tried")),
  ];
}

function number(value) {
  return String(Number(value.toPrecision(4)));
}

/** An action in short: of a JSON object the values alone. */
function brief(action) {
  if (!action.startsWith("{")) return action;
  try {
    return Object.values(JSON.parse(action)).map(value => (typeof value === "object" ? JSON.stringify(value) : value)).join(" ");
  } catch {
    return action; // it only looked like JSON
  }
}

function seconds(value) {
  if (value === null) return "–"; // not finite
  if (value >= 100) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
  if (value === 0) return "0 s";
  return value >= 1 ? `${value.toFixed(1)} s` : value >= 0.001 ? `${Math.round(value * 1000)} ms` : `${Math.round(value * 1e6)} µs`;
}
