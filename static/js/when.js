/* Parts of a form that only some answers need: data-when="field=answer" (answers apart by |), or "field" and "!field"
   for any answer and none. Others are hidden, unless they hold a mistake; without a script all are shown. */
import { bind } from "./page.js";

function wanted(part) {
  const [, not, name, answers] = part.dataset.when.match(/^(!?)([^=]+)=?(.*)$/);
  const field = part.closest("form").elements.namedItem(name);
  if (!field) return true;
  const given = field.type === "checkbox" ? (field.checked ? field.value : "") : field.value;
  const fits = answers ? answers.split("|").includes(given) : given !== "";
  return not ? !fits : fits;
}

function show(part) {
  part.hidden = false;
  if (part instanceof HTMLDetailsElement) part.open = true;
}

function attach(part) {
  const form = part.closest("form");
  const apply = () => {
    const shown = wanted(part) || part.querySelector(".field-wrong") !== null;
    if (!shown) part.hidden = true;
    else if (part.hidden) show(part);
  };
  form.addEventListener("change", apply);
  part.addEventListener("invalid", () => show(part), true); // the browser points at it, so it must be there
  apply();
}

bind("form [data-when]", attach);
