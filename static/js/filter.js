/* A legend that filters: data-filter holds the id of a view whose parts carry data-value; the buttons carry
   it too and are toggles. What is chosen is kept in the address, so that it can be shared. */
import { announce, bind } from "./page.js";

function attach(legend) {
  const view = document.getElementById(legend.dataset.filter);
  const key = `show-${legend.dataset.filter}`;
  const buttons = [...legend.querySelectorAll("button[data-value]")];
  if (!view) return;

  function apply() {
    const chosen = new Set(buttons.filter((button) => button.ariaPressed === "true").map((button) => button.dataset.value));
    for (const part of view.querySelectorAll("[data-value]")) {
      const values = part.dataset.value.split(" ");
      part.classList.toggle("is-filtered-out", chosen.size > 0 && !values.some((value) => chosen.has(value)));
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
