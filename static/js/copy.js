/* Copies a text: data-copy holds it, data-copy-from takes the code of the same snippet. */
import { announce, icon, texts } from "./page.js";

const SHOWN_MS = 1500;

async function copy(button) {
  const text = button.dataset.copy ?? button.closest("figure").querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    announce(texts.not_copied);
    return;
  }
  const old = button.querySelector("svg");
  const done = icon("check");
  old.replaceWith(done);
  button.classList.add("is-done");
  announce(texts.copied);
  setTimeout(() => {
    done.replaceWith(old);
    button.classList.remove("is-done");
  }, SHOWN_MS);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (button && !button.classList.contains("is-done")) copy(button);
});
