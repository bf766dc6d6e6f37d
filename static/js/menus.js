/* Menus close on Escape and on a click elsewhere; the navigation folds; dialogs open in older browsers;
   an error summary takes the focus. Without a script all of these still open and work. */
import { bind, remember } from "./page.js";

const OPEN_MENU = "details[data-menu][open]";

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(OPEN_MENU)) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll(OPEN_MENU)) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

bind("[data-fold]", (button) => {
  const shell = document.getElementById("shell");
  const show = () => button.setAttribute("aria-expanded", String(!shell.classList.contains("nav-slim")));
  show();
  button.addEventListener("click", () => {
    remember("navigation", shell.classList.toggle("nav-slim") ? "slim" : "full");
    show();
  });
});

bind("[data-focus]", (summary) => summary.focus());
// Where nothing is to be corrected, what is above is read first: the page does not scroll to it.
bind("[data-first-focus]", (element) => {
  if (!document.querySelector("[data-focus]")) element.focus({ preventScroll: true });
});

if (!("commandForElement" in HTMLButtonElement.prototype)) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[command][commandfor]");
    const dialog = button && document.getElementById(button.getAttribute("commandfor"));
    if (!dialog) return;
    if (button.getAttribute("command") === "show-modal") dialog.showModal();
    else dialog.close();
  });
}
