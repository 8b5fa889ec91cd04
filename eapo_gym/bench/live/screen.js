"use strict";
// The screen of a phone or a desktop, for a finger or a mouse, and beside it what is on it: for environments that show
// screenshots and take JSON actions.
//
//   const screen = new Screen(pick);           pick(command, onlyWrite) does an action, or writes it down
//   if (Screen.isIn(game)) …                   whether there is a screen now
//   screen.draw(game, seen, figure);           `seen` are nodes that stand above the elements
//   container.append(screen.root); screen.stay();
//
// What an environment can do it tells by its examples: only what one of them does is offered.

const HOLD_MS = 550;
const SCROLL_PAUSE_MS = 250;
const DRAG_PIXELS = 14;
const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" };

class Screen {
  static isIn({ status, examples }) {
    return status !== "over" && status !== "closed" && kindsIn(examples).size > 0;
  }

  constructor(pick) {
    this.pick = pick;
    this.game = null;
    this.down = null; // where a finger came down, and when
    this.turned = { x: 0, y: 0, until: 0 }; // the wheel
    this.box = el("div", { class: "aimed", hidden: true });
    this.list = el("ol", { class: "on-screen", "aria-label": "What is on the screen" });
    this.field = el("input", { id: "typed", placeholder: "Text", "aria-label": "Text for the screen", autocomplete: "off", spellcheck: "false" });
    this.into = el("select", { "aria-label": "Into which field" });
    this.texts = el("form", { class: "typing", onsubmit: event => this.write(event) });
    this.keys = el("div", { class: "keys" });
    this.root = el("div", { class: "screen" });
  }

  draw(game, seen, figure) {
    this.wasTyping = document.activeElement === this.field;
    this.game = game;
    this.kinds = kindsIn(game.examples);
    this.isMine = game.status === "yours";
    this.image = figure?.querySelector("img") ?? null;
    this.aim(null);
    if (this.image) this.listen(figure);
    this.drawKeys();
    this.drawTexts();
    this.list.replaceChildren(...game.elements.map(element => this.row(element)));
    const count = el("h3", { class: "label" }, plural(game.elements.length, "element"));
    this.root.replaceChildren(figure ?? "", el("div", { class: "panel" }, seen, this.keys, this.texts, count, this.list));
  }

  /** The page is drawn anew at each step, and the focus is lost with what had it. */
  stay() {
    if (this.wasTyping && !this.field.disabled) this.field.focus({ preventScroll: true });
  }

  /** A letter that is typed nowhere goes into the field, if one of the screen's own is waiting for it. */
  key(event) {
    const waits = this.isMine && this.kinds.has("input_text") && this.game.elements.some(({ focused, editable }) => focused && editable);
    if (!waits || event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || isTyping(event.target)) return false;
    this.field.focus({ preventScroll: true }); // the letter itself follows
    return true;
  }

  // What is beside the picture

  drawKeys() {
    const key = (fields, text, more = "") => el("button", {
      type: "button", class: more, disabled: !this.isMine, title: written(fields), onclick: event => this.pick(written(fields), event.shiftKey),
    }, text);
    const bare = [...this.kinds].filter(([, { names }]) => names.length === 0).map(([kind]) => key({ action_type: kind }, spoken(kind)));
    const ways = this.kinds.has("scroll") ? Object.entries(ARROWS).map(([way, arrow]) => key({ action_type: "scroll", direction: way }, arrow, "arrow")) : [];
    const end = this.kinds.has("status") ? [key({ action_type: "status", goal_status: "complete" }, "It is done", "end")] : [];
    this.keys.replaceChildren(...bare, ...(ways.length ? [el("span", { class: "ways", role: "group", "aria-label": "Scroll" }, el("small", {}, "scroll"), ways)] : []), ...end);
  }

  drawTexts() {
    const fields = this.game.elements.filter(({ editable }) => editable);
    const chosen = fields.find(({ focused }) => focused) ?? fields[0];
    this.field.disabled = !this.isMine;
    this.into.replaceChildren(...fields.map(each => el("option", { value: each.index, selected: each === chosen }, `${each.index} ${each.text || each.kind}`)));
    this.into.hidden = fields.length < 2;
    const button = (kind, text) => (this.kinds.has(kind) ? [el("button", { type: "submit", value: kind, disabled: !this.isMine || (kind === "input_text" && !fields.length) }, text)] : []);
    const buttons = [...button("input_text", "Type"), ...button("answer", "Answer")];
    this.texts.hidden = !buttons.length;
    this.texts.replaceChildren(this.field, this.into, ...buttons);
    if (this.written !== this.game.view.moments.length) this.field.value = "";
    this.written = this.game.view.moments.length;
  }

  write(event) {
    event.preventDefault();
    const text = this.field.value;
    const kind = event.submitter?.value ?? "input_text";
    if (!text || !this.isMine) return;
    const into = this.game.elements.find(({ index }) => index === Number(this.into.value));
    // A field that is written in already keeps its cursor where it is.
    this.pick(written({ action_type: kind, text, ...(kind === "input_text" && into && !into.focused ? { index: into.index } : {}) }), false);
  }

  row(element) {
    const { index, text, kind, editable, focused, scrollable } = element;
    const marks = Object.entries({ editable, scrollable, focused }).filter(([, is]) => is).map(([name]) => name);
    return el("li", {},
      el("button", {
        type: "button", disabled: !this.isMine || !this.kinds.has("click"), "data-index": index,
        onmouseenter: () => this.aim(element), onmouseleave: () => this.aim(null), onfocus: () => this.aim(element), onblur: () => this.aim(null),
        onclick: event => this.pick(written({ action_type: "click", index }), event.shiftKey),
      }, el("b", {}, index), el("span", { class: "text" }, text || "–"), el("small", {}, [kind, ...marks].filter(Boolean).join(" · "))));
  }

  /** Show where an element is. */
  aim(element) {
    this.box.hidden = !element || !this.image?.naturalWidth;
    if (this.box.hidden) return;
    const [x0, y0, x1, y1] = element.bounds;
    const { naturalWidth: width, naturalHeight: height } = this.image;
    const within = (value, most) => `${100 * Math.max(0, Math.min(value, most)) / most}%`;
    Object.assign(this.box.style, { left: within(x0, width), top: within(y0, height) });
    Object.assign(this.box.style, { width: within(Math.min(x1, width) - Math.max(x0, 0), width), height: within(Math.min(y1, height) - Math.max(y0, 0), height) });
  }

  // Fingers

  listen(figure) {
    const glass = el("div", { class: "glass" });
    this.image.replaceWith(glass);
    glass.append(this.image, this.box);
    if (this.before) glass.style.backgroundImage = `url("${this.before}")`; // until the new picture is there
    this.image.addEventListener("load", event => { this.before = event.target.src; });
    this.image.draggable = false;
    glass.addEventListener("pointerdown", event => {
      if (event.button === 0 && this.isMine) this.down = { x: event.clientX, y: event.clientY, at: event.timeStamp, by: event.pointerId };
    });
    glass.addEventListener("pointermove", event => { if (!this.down) this.aim(this.under(event)); });
    glass.addEventListener("pointerleave", () => this.aim(null));
    glass.addEventListener("pointercancel", () => { this.down = null; });
    glass.addEventListener("pointerup", event => this.up(event));
    glass.addEventListener("contextmenu", event => {
      const kind = ["right_click", "long_press"].find(each => this.kinds.has(each));
      if (!kind || !this.isMine) return;
      event.preventDefault();
      this.touch(kind, event);
    });
    glass.addEventListener("wheel", event => this.wheel(event), { passive: false });
  }

  up(event) {
    const { down } = this;
    this.down = null;
    if (!down || down.by !== event.pointerId || !this.isMine) return;
    const x = event.clientX - down.x, y = event.clientY - down.y;
    const start = { clientX: down.x, clientY: down.y };
    if (Math.max(Math.abs(x), Math.abs(y)) > DRAG_PIXELS) {
      // Whoever draws the screen up wants to see what is below.
      this.scroll(Math.abs(x) > Math.abs(y) ? (x < 0 ? "right" : "left") : y < 0 ? "down" : "up", start);
    } else {
      const isHeld = event.timeStamp - down.at >= HOLD_MS && this.kinds.has("long_press");
      this.touch(isHeld ? "long_press" : "click", { ...start, shiftKey: event.shiftKey });
    }
  }

  /** One scroll for each time that the wheel is turned, however far: it is a step. */
  wheel(event) {
    if (!this.isMine || !this.kinds.has("scroll") || event.ctrlKey) return;
    event.preventDefault();
    const isNew = event.timeStamp > this.turned.until;
    this.turned.until = event.timeStamp + SCROLL_PAUSE_MS;
    if (!isNew) return;
    const { deltaX: x, deltaY: y } = event;
    this.scroll(Math.abs(x) > Math.abs(y) ? (x > 0 ? "right" : "left") : y > 0 ? "down" : "up", event);
  }

  scroll(direction, place) {
    if (!this.kinds.has("scroll")) return;
    const area = this.under(place, ({ scrollable }) => scrollable);
    this.pick(written({ action_type: "scroll", direction, ...(area ? { index: area.index } : {}) }), false);
  }

  /** The smallest element there, else the pixel. */
  touch(kind, event) {
    const hit = this.under(event);
    const [x, y] = this.pixel(event);
    this.pick(written({ action_type: kind, ...(hit ? { index: hit.index } : { x, y }) }), event.shiftKey);
  }

  under(event, holds = () => true) {
    const [x, y] = this.pixel(event);
    const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
    return this.game.elements.filter(element => holds(element)).filter(({ bounds: [x0, y0, x1, y1] }) => x0 <= x && x < x1 && y0 <= y && y < y1)
      .sort((a, b) => area(a.bounds) - area(b.bounds))[0];
  }

  pixel({ clientX, clientY }) {
    const box = this.image.getBoundingClientRect();
    const x = Math.round((clientX - box.left - this.image.clientLeft) / this.image.clientWidth * this.image.naturalWidth);
    const y = Math.round((clientY - box.top - this.image.clientTop) / this.image.clientHeight * this.image.naturalHeight);
    return [Math.max(0, Math.min(x, this.image.naturalWidth - 1)), Math.max(0, Math.min(y, this.image.naturalHeight - 1))];
  }
}

/** The kinds of JSON action among some examples, each with the names of what it says besides. */
function kindsIn(examples) {
  const kinds = new Map();
  for (const example of examples ?? []) {
    if (!example.startsWith("{")) continue;
    try {
      const { action_type: kind, ...more } = JSON.parse(example);
      if (typeof kind === "string") kinds.set(kind, { names: Object.keys(more) });
    } catch {
      continue; // it only looked like JSON
    }
  }
  return kinds;
}

function written(fields) {
  return `{${Object.entries(fields).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(", ")}}`;
}

/** "navigate_back" is "Back". */
function spoken(kind) {
  const words = kind.replace(/^(navigate|keyboard)_/, "").replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}
