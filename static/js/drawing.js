/* What scripts that draw share: a library that is loaded when it is first needed, and the colours of the theme. */

const loading = new Map();

/** The library at an address, which it leaves under a name of the window. */
export function library(address, name) {
  if (!loading.has(address)) {
    const script = Object.assign(document.createElement("script"), { src: address });
    const loaded = new Promise((resolve, reject) => {
      script.addEventListener("load", () => resolve(window[name]));
      script.addEventListener("error", reject);
    });
    loading.set(address, loaded);
    document.head.append(script);
  }
  return loading.get(address);
}

/** The value that a custom property has here, as a colour that libraries understand. */
export function colour(element, name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
