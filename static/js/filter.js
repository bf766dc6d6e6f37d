/* A legend that filters: data-filter holds the id of a view whose parts carry data-value; the buttons carry
   it too and are toggles. Further views say it by data-filtered-by; a canvas among them is told by an event and finds
   what is chosen in data-chosen. What is chosen is kept in the address, so that it can be shared. */
import { announce, bind } from "./page.js";

function attach(legend) {
  const id = legend.dataset.filter;
  const views = [...document.querySelectorAll(`[id="${id}"], [data-filtered-by="${id}"]`)];
  const key = `show-${id}`;
  const buttons = [...legend.querySelectorAll("button[data-value]")];
  if (!views.length) return;

  function apply() {
    const chosen = new Set(buttons.filter((button) => button.ariaPressed === "true").map((button) => button.dataset.value));
    for (const view of views) {
      for (const part of view.querySelectorAll("[data-value]")) {
        const values = part.dataset.value.split(" ");
        part.classList.toggle("is-filtered-out", chosen.size > 0 && !values.some((value) => chosen.has(value)));
      }
      view.dataset.chosen = [...chosen].join(" ");
      view.dispatchEvent(new Event("portal:filter"));
    }
    return chosen;
  }

  legend.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-value]");
    if (!button) return;
    button.setAttribute("aria-pressed", String(button.ariaPressed !== "true"));
    const address = new URL(location.href);
    const chosen = apply();
    if (chosen.size) address.searchParams.set(key, [...chosen].join(" "));
    else address.searchParams.delete(key);
    history.replaceState(history.state, "", address);
    announce(button.textContent.trim());
  });

  const asked = new URL(location.href).searchParams.get(key)?.split(" ") ?? [];
  for (const button of buttons) button.setAttribute("aria-pressed", String(asked.includes(button.dataset.value)));
  apply();
}

bind("[data-filter]", attach);
