/* A table that is wider than its box can be scrolled by keys too: where nothing in it takes the focus, the
   box itself does, as long as it has something to scroll. One that fits is marked, so that its head may stay
   at the top of the window. */
import { bind } from "./page.js";

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const isWhole = target.scrollWidth <= target.clientWidth;
    target.classList.toggle("is-whole", isWhole);
    if (!isWhole && !target.querySelector(FOCUSABLE)) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

bind(".table-scroll", (box) => watcher.observe(box));
