/* Drop a file on data-drop (a form with a file field), or paste one, and send it with a progress bar.
   Without a script the form's own field and button do the same. */
import { announce, arrived, bind } from "./page.js";

function attach(form) {
  const field = form.querySelector("input[type=file]");
  const bar = form.querySelector("progress");
  const state = form.querySelector("[data-drop-state]");
  const zone = form.querySelector(".drop") ?? form;

  for (const name of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("is-over", name === "dragover");
    });
  }
  zone.addEventListener("drop", (event) => take(event.dataTransfer.files));
  form.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) take(event.clipboardData.files);
  });
  field.addEventListener("change", () => name());
  form.addEventListener("submit", (event) => {
    if (!field.files.length) return;
    event.preventDefault();
    send(event.submitter);
  });

  function take(files) {
    if (!files.length) return;
    field.files = files;
    name();
    if ("dropSend" in form.dataset) form.requestSubmit();
  }

  function name() {
    state.textContent = [...field.files].map((file) => file.name).join(", ");
    announce(state.textContent);
  }

  function send(submitter) {
    const request = new XMLHttpRequest();
    bar.hidden = false;
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("load", () => arrive(request));
    request.addEventListener("error", () => {
      bar.hidden = true;
      state.textContent = form.dataset.dropFailed ?? "";
      announce(state.textContent);
    });
    request.open("POST", form.action);
    request.send(new FormData(form, submitter));
  }

  /** Show the page that the server answered with: after a redirect its address, else its text (errors). */
  function arrive(request) {
    if (request.responseURL && request.responseURL !== form.action) {
      location.assign(request.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const main = page.querySelector("main");
    if (main) document.querySelector("main").replaceWith(main);
    else location.reload();
    if (main) arrived(main);
  }
}

bind("form[data-drop]", attach);
