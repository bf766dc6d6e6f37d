/* Draws the link graph of a topology on a canvas (data-graph), from positions that the server worked out.
   The canvas is hidden from assistive technology: the tables beside it say the same. */
import { colour, library } from "./drawing.js";
import { bind } from "./page.js";

const MANY_LINKS = 300; // above, each is faint, or together they hide what they join

function look(element, links) {
  const of = (name) => colour(element, name);
  const tones = ["pass", "warn", "fail", "unknown", "waived", "running"].map((tone) => ({
    selector: `.tone-${tone}`,
    style: { "border-color": of(`--${tone}`), "border-width": 2 },
  }));
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle",
        width: "data(width)",
        height: "data(height)",
        label: "data(label)",
        "font-size": 9,
        "text-valign": "center",
        color: of("--ink"),
        "background-color": of("--surface-raised"),
        "border-width": 1,
        "border-color": of("--line-strong"),
      },
    },
    // Frames lie at the bottom, or they would hide the links inside of them.
    { selector: ".frame", style: { "background-color": of("--surface-sunken"), "text-valign": "top", "text-margin-y": 14, events: "no", "z-compound-depth": "bottom" } },
    {
      selector: "edge",
      style: { width: "data(weight)", "line-color": of("--line-strong"), opacity: links > MANY_LINKS ? 0.15 : 0.55, "curve-style": "haystack", "haystack-radius": 0 },
    },
    ...tones,
    { selector: ".is-lit", style: { "line-color": of("--focus"), opacity: 1, "z-index-compare": "manual", "z-index": 9 } },
    { selector: "node:selected", style: { "border-color": of("--focus"), "border-width": 3 } },
  ];
}

async function draw(element) {
  const elements = JSON.parse(document.getElementById(element.dataset.graph).textContent);
  const links = elements.filter((one) => one.group === "edges").length;
  const cytoscape = await library(element.dataset.cytoscape, "cytoscape");
  const graph = cytoscape({
    container: element,
    elements,
    layout: { name: "preset" },
    style: look(element, links),
    autoungrabify: true,
    pixelRatio: "auto",
  });
  graph.fit(undefined, 12);
  graph.on("tap", "node[url]", (event) => location.assign(event.target.data("url")));
  graph.on("mouseover", "node", (event) => event.target.connectedEdges().addClass("is-lit"));
  graph.on("mouseout", "node", (event) => event.target.connectedEdges().removeClass("is-lit"));
  document.addEventListener("portal:theme", () => graph.style(look(element, links)));
}

bind("[data-graph]", draw);
