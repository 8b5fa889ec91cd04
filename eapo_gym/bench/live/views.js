"use strict";
// The environment's own page: what views.py describes, as elements.
//
//   const page = new Page();
//   const stay = page.draw(content, isMine);   content may be null; clicks do something only where isMine
//   container.append(page.host); stay();       puts the focus and the scrolling back where they were, if it is due
//
// It stands in a shadow tree: its style reaches nothing else, and no other style reaches it. Texts become text.

class Page {
  constructor() {
    this.host = el("div", { class: "page" });
    this.root = this.host.attachShadow({ mode: "open" });
    this.key = null;
    this.place = null; // what had the focus last: the page is made anew whenever something changes, and the focus is lost
    // The viewer has keys of its own; what is typed here is no business of it.
    this.host.addEventListener("keydown", event => { if (isTyping(event.composedPath()[0])) event.stopPropagation(); });
  }

  /** Returns what is to be called when the page is in its place. */
  draw(content, isMine) {
    const isNew = content?.key !== this.key;
    if (this.root.activeElement) this.place = this.root.activeElement.dataset.place ?? null;
    else if (document.activeElement !== document.body) this.place = null;
    const written = this.root.querySelector("input")?.value ?? "";
    const scrolled = this.scroller()?.scrollTop ?? 0;
    this.key = content?.key;
    this.isMine = isMine;
    this.root.replaceChildren(...(content ? [el("style", {}), ...content.parts.map(part => this.element(part))] : []));
    if (content) this.root.firstChild.textContent = content.style; // as it is: el() would show its control characters
    const input = this.root.querySelector("input");
    if (input && !isNew) input.value = written;
    return () => {
      if (!content) return;
      if (!isNew) this.scroller()?.scrollTo(0, scrolled);
      else if (this.host.getBoundingClientRect().top < 0) this.host.scrollIntoView({ block: "start" });
      if (!isMine || document.activeElement !== document.body) return;
      const again = [...this.root.querySelectorAll("[data-place]:not(:disabled)")].find(node => node.dataset.place === this.place);
      (again ?? input)?.focus({ preventScroll: true });
    };
  }

  /** What scrolls on a wide screen; on a narrow one it is the window, which stays where it is. */
  scroller() {
    return this.host.closest(".scroll");
  }

  element(part) {
    if (typeof part === "string") return document.createTextNode(visible(part));
    const { tag } = part;
    const node = el(tag, { class: part.class, title: part.title, ...this.more(part) }, part.parts.map(child => this.element(child)));
    if (tag === "img") node.alt = part.label ?? "";
    else if (part.label) node.setAttribute("aria-label", part.label);
    if (tag === "form") node.addEventListener("submit", event => this.send(event, part));
    return node;
  }

  more({ tag, do: command, pressed, disabled, placeholder, svg, value }) {
    switch (tag) {
      case "button": return {
        type: command === undefined ? "submit" : "button", disabled: disabled || !this.isMine,
        "aria-pressed": pressed === undefined ? null : String(pressed), "data-place": command,
        onclick: event => command !== undefined && pick(command, event.shiftKey),
      };
      case "input": return { "data-place": "input", placeholder, required: true, autocomplete: "off", spellcheck: "false", enterkeyhint: "search", maxlength: "50000" };
      case "img": return { src: `data:image/svg+xml,${encodeURIComponent(svg ?? "")}`, draggable: "false" };
      case "progress": return { value };
      default: return {};
    }
  }

  send(event, { before = "", after = "", without = "" }) {
    event.preventDefault();
    const text = [...event.target.querySelector("input").value].map(sign => (without.includes(sign) ? " " : sign)).join("").trim();
    if (text && this.isMine) pick(before + text + after, false);
  }
}
