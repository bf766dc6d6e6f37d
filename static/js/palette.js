/* The palette (Ctrl or Cmd and K), the search key, "g" and a letter, j and k through rows, "?" for the list. */
import { announce, icon, isTyping, texts } from "./page.js";

const dialog = document.getElementById("palette");
const input = dialog?.querySelector("input");
const list = dialog?.querySelector("ul");
const WAIT_MS = 150;
const CHORD_MS = 1200;
let timer = 0;
let asked = 0;
let chord = 0;

/** Entries of the navigation, which need no server. */
function pages() {
  return [...document.querySelectorAll("#navigation a")].map((link) => ({
    label: link.querySelector(".word").textContent,
    url: link.href,
    icon: link.querySelector("use").getAttribute("href").split("#")[1],
  }));
}

function show(entries) {
  list.replaceChildren(
    ...entries.map((entry, index) => {
      const option = document.createElement("li");
      option.id = `palette-${index}`;
      option.role = "option";
      option.dataset.url = entry.url;
      option.append(icon(entry.icon || "arrow-right"), entry.label);
      if (entry.kind) option.append(Object.assign(document.createElement("small"), { textContent: entry.kind }));
      return option;
    }),
  );
  select(0);
  if (entries.length) return;
  list.append(Object.assign(document.createElement("li"), { className: "palette-none", textContent: texts.no_match }));
  announce(texts.no_match);
}

function select(index) {
  const options = [...list.querySelectorAll("[role=option]")];
  const place = options.length ? (index + options.length) % options.length : -1;
  options.forEach((option, at) => option.setAttribute("aria-selected", String(at === place)));
  input.setAttribute("aria-activedescendant", options[place]?.id ?? "");
  options[place]?.scrollIntoView({ block: "nearest" });
}

const selected = () => [...list.children].findIndex((option) => option.ariaSelected === "true");

const searchPage = () => `${dialog.dataset.search}?q=${encodeURIComponent(input.value.trim())}`;

async function look() {
  const text = input.value.trim().toLowerCase();
  const near = pages().filter((page) => page.label.toLowerCase().includes(text));
  const turn = ++asked;
  const asks = text && dialog.dataset.palette;
  if (near.length || !asks) show(near);
  if (!asks) return;
  const answer = await fetch(`${dialog.dataset.palette}?q=${encodeURIComponent(text)}`, {
    headers: { Accept: "application/json" },
  });
  if (answer.ok && turn === asked) show([...near, ...(await answer.json()).results]);
}

function open() {
  if (!dialog || dialog.open) return;
  input.value = "";
  show(pages());
  dialog.showModal();
}

dialog?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, WAIT_MS);
});
dialog?.addEventListener("click", (event) => {
  const option = event.target.closest("[data-url]");
  if (option) location.assign(option.dataset.url);
  else if (event.target === dialog) dialog.close();
});
dialog?.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) select(selected() + step);
  else if (event.key === "Enter") location.assign(list.children[selected()]?.dataset.url ?? searchPage());
  else return;
  event.preventDefault();
});

/** Focus the link of the next or previous row of the first table. */
function row(step) {
  const links = [...document.querySelectorAll("main tbody tr")].map((line) => line.querySelector("a")).filter(Boolean);
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

function single(event) {
  if (Date.now() - chord < CHORD_MS) {
    chord = 0;
    document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  } else if (event.key === "/") document.querySelector("[data-search]")?.focus();
  else if (event.key === "?") document.getElementById("shortcuts")?.showModal();
  else if (event.key === "g") chord = Date.now();
  else if (event.key === "j") row(1);
  else if (event.key === "k") row(-1);
  else if (event.key === "e") document.querySelector("[data-edit]")?.click();
  else return;
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open();
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event)) {
    if (!document.querySelector("dialog[open]") && !document.body.hasAttribute("data-no-keys")) single(event);
  }
});
