"use strict";
// What builds elements. Whatever an agent or an environment said becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (`onclick` and the like are listeners) and children, which are nodes or texts. */
function el(name, attributes = {}, ...children) {
  return dress(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, name), attributes, children);
}

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : visible(String(child)));
  }
  return node;
}

/** Control characters have no shape of their own: they are shown by their pictures (␛), so that nothing is hidden. */
function visible(text) {
  return text.replace(/\r\n/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, sign => {
    const code = sign.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
