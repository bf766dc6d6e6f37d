/* Changes the theme without loading the page again; the cookie lets the server render the next one right. */
import { bind, remember } from "./page.js";

const root = document.documentElement;

bind("[data-theme-menu]", (menu) => {
  menu.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = event.submitter.value;
    remember("theme", chosen);
    root.dataset.bsTheme = chosen;
    document.querySelector("meta[name=color-scheme]").content = chosen === "auto" ? "light dark" : chosen;
    for (const button of menu.querySelectorAll("[aria-pressed]")) {
      button.setAttribute("aria-pressed", String(button.value === chosen));
    }
    menu.closest("details").open = false;
    document.dispatchEvent(new Event("portal:theme"));
  });
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (root.dataset.bsTheme === "auto") document.dispatchEvent(new Event("portal:theme"));
});
