/* What several behaviours share: texts of the page, its live region, cookies, icons. */

const block = document.getElementById("texts");

/** Translated texts and addresses that the server wrote into the page. */
export const texts = block ? JSON.parse(block.textContent) : {};

/** Say something through the one live region, for people who do not see the change. */
export function announce(message) {
  const region = document.getElementById("live");
  if (!region) return;
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = message));
}

/** Keep a choice of this browser for a year; the server renders the next page by it. */
export function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

/** An icon of the sprite. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("class", "icon icon-small");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `${texts.icons}#${name}`);
  svg.append(use);
  return svg;
}

/** Whether a key event is meant for a field rather than for the page. */
export function isTyping(event) {
  return event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** Bind what is in an element that was filled without htmx. */
export function arrived(element) {
  document.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: element } }));
}

/** Run a binder once on each element that is there now, and on everything that htmx brings later. */
export function bind(selector, attach) {
  const bound = new WeakSet(); // htmx announces the whole page too, after it has been bound
  const once = (element) => {
    if (bound.has(element)) return;
    bound.add(element);
    attach(element);
  };
  const run = (root) => {
    if (root.matches?.(selector)) once(root);
    root.querySelectorAll?.(selector).forEach(once);
  };
  run(document);
  document.addEventListener("htmx:load", (event) => run(event.detail.elt));
}
