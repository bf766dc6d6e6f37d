// Shows the OpenAPI document with Swagger UI; requests that are tried out carry the session's CSRF token.

const place = document.getElementById("api");
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Swagger UI goes dark by a class on the root, where the portal goes by an attribute or the system. */
function followTheme() {
  const theme = root.dataset.bsTheme;
  root.classList.toggle("dark-mode", theme === "dark" || (theme === "auto" && dark.matches));
}

followTheme();
document.addEventListener("portal:theme", followTheme);

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  validatorUrl: null,
  requestInterceptor(request) {
    request.headers["X-CSRFToken"] = place.dataset.csrf;
    return request;
  },
});
