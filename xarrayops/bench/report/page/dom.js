"use strict";
// DOM elements, created from text only: results are never parsed as HTML.

const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    if (name === "tip") tips.set(element, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false && child !== ""));
  return element;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** A table with a caption for screen readers. A cell is text or elements; the first of each line is its header. */
function table(caption, columns, lines) {
  const head = columns.map((name) => el("th", { scope: "col" }, name));
  const body = lines.map(([first, ...rest]) =>
    el("tr", {}, el("th", { scope: "row" }, first), ...rest.map((cell) => el("td", {}, cell))));
  return el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, ...head)),
    el("tbody", {}, ...body));
}

const tips = new WeakMap();

/** Shows the tooltip of a hovered or focused element, until it loses focus or Escape is pressed. */
function listenForTips() {
  const tip = byId("tip");
  const owner = (event) => event.target.closest("button, .mark");
  let target = null;
  const show = (event) => {
    const text = tips.get(owner(event));
    if (!text) return;
    target = owner(event);
    tip.replaceChildren(...text.split("\n").map((line, i) => el(i ? "div" : "strong", {}, line)));
    tip.hidden = false;
    place(tip, target.getBoundingClientRect());
  };
  const hide = () => { tip.hidden = true; };
  const leave = (event) => { if (owner(event) === target && document.activeElement !== target) hide(); };
  const follow = () => { if (!tip.hidden) place(tip, target.getBoundingClientRect()); };
  document.addEventListener("pointerover", show);
  document.addEventListener("pointerout", leave);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", follow, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

function place(tip, box) {
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), window.innerWidth - width - 8);
  const top = box.top - height - 8 < 0 ? box.bottom + 8 : box.top - height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

/** Roving tabindex: one Tab stop, arrow keys move between items. Up and down move by `stride` items. */
function roving(container, selector, stride) {
  const items = [...container.querySelectorAll(selector)];
  items.forEach((item, i) => item.setAttribute("tabindex", i ? "-1" : "0"));
  container.onkeydown = (event) => {
    const at = items.indexOf(event.target);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -stride, ArrowDown: stride }[event.key];
    const next = step && at >= 0 && items[at + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  items.forEach((item) => item.addEventListener("focus", () => {
    items.forEach((other) => other.setAttribute("tabindex", other === item ? "0" : "-1"));
  }));
}
