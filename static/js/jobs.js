/* Follows work on the server: data-poll holds the address of a fragment that replaces the element's content.
   It asks after 2 s, then less and less often up to 10 s (data-poll-slow: 10 to 60 s), rests while the page
   is hidden, and ends with status 286; data-poll-reload then loads the page anew. A data-announce in the fragment is said once when it changes. */
import { announce, arrived, bind } from "./page.js";

const ENDED = 286;
const GROWTH = 1.4;
const PATIENCE = 15_000;

let leftAt = -PATIENCE;
window.addEventListener("beforeunload", () => (leftAt = performance.now()));

/* Not while the reader is on the way to another page: that would call the reader back. */
function reload() {
  const left = performance.now() - leftAt < PATIENCE;
  if (left) setTimeout(reload, PATIENCE);
  else location.reload();
}

function follow(element) {
  const [first, last] = "pollSlow" in element.dataset ? [10_000, 60_000] : [2_000, 10_000];
  let wait = first;
  let said = element.querySelector("[data-announce]")?.dataset.announce;

  async function ask() {
    if (!element.isConnected) return;
    if (document.hidden) {
      document.addEventListener("visibilitychange", ask, { once: true });
      return;
    }
    const answer = await fetch(element.dataset.poll, { headers: { "HX-Request": "true" } }).catch(() => null);
    wait = Math.min(wait * GROWTH, last);
    if (answer?.redirected || answer?.status === 403 || answer?.status === 404) return;
    if (answer?.ok) {
      const html = await answer.text();
      if (html !== element.dataset.shown) replace(html);
      if (answer.status === ENDED) {
        element.dispatchEvent(new CustomEvent("portal:job-ended", { bubbles: true }));
        if ("pollReload" in element.dataset) reload();
        return;
      }
    }
    setTimeout(ask, wait);
  }

  function replace(html) {
    const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
    element.innerHTML = html;
    element.dataset.shown = html;
    window.htmx?.process(element);
    arrived(element);
    if (focused) document.getElementById(focused)?.focus();
    const news = element.querySelector("[data-announce]")?.dataset.announce;
    if (news && news !== said) announce(news);
    said = news;
  }

  setTimeout(ask, wait);
}

bind("[data-poll]", follow);
