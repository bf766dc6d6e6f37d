/* What takes the focus when the page opens, without the page scrolling to it: what is above is to be read first. */
import { bind } from "./page.js";

bind("[data-focus]", (element) => element.focus({ preventScroll: true }));
