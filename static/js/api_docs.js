// Shows the OpenAPI document with Swagger UI; requests that are tried out carry the session's CSRF token.

const place = document.getElementById("api");

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "none",
  validatorUrl: null,
  requestInterceptor(request) {
    request.headers["X-CSRFToken"] = place.dataset.csrf;
    return request;
  },
});
