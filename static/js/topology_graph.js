/* Draws the link graph of a topology on a canvas (data-graph), from positions that the server worked out.
   It is as large as it needs to be to be read, and scrolls with its frame. The canvas is hidden from assistive
   technology: the tables beside it say the same. */
import { colour, library } from "./drawing.js";
import { bind } from "./page.js";

const WIDEST = 2; // a picture is not drawn wider apart than this
const TONES = ["pass", "warn", "fail", "unknown", "waived", "running"];
const SERIES = [1, 2, 3, 4, 5, 6];

function look(element) {
  const of = (name) => colour(element, name);
  const font = getComputedStyle(element).fontFamily;
  const edge = (selector, name) => ({ selector, style: { "border-color": of(name), "border-width": 2 } });
  const said = { "font-family": font, "font-size": 11, color: of("--ink-soft"), "text-background-color": of("--surface"), "text-background-opacity": 1, "text-background-padding": 2 };
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle",
        width: "data(width)",
        height: "data(height)",
        label: "data(label)",
        "font-family": font,
        "font-size": 12,
        "text-wrap": "wrap",
        "text-valign": "center",
        color: of("--ink"),
        "background-color": of("--surface-raised"),
        "border-width": 1,
        "border-color": of("--line-strong"),
      },
    },
    ...TONES.map((tone) => edge(`.tone-${tone}`, `--${tone}`)),
    ...SERIES.map((number) => edge(`.series-${number}`, `--series-${number}`)),
    { selector: "edge", style: { width: "data(weight)", "line-color": of("--line-strong"), "curve-style": "straight", ...said } },
    { selector: ".arc", style: { "curve-style": "unbundled-bezier", "control-point-distances": -70, "control-point-weights": 0.5 } },
    { selector: ".says-between", style: { label: "data(label)" } },
    // Each leaves its box straight, says what it is there, and joins the others just before what they lead to.
    { selector: ".says-below", style: { "source-label": "data(label)", "source-text-offset": 72, "curve-style": "taxi", "taxi-direction": "rightward", "taxi-turn": -14 } },
    { selector: ".says-above", style: { "target-label": "data(label)", "target-text-offset": 72, "curve-style": "taxi", "taxi-direction": "rightward", "taxi-turn": 14 } },
    { selector: ".is-out", style: { opacity: 0.2 } },
    { selector: ".is-dim", style: { opacity: 0.12 } },
    { selector: "edge.is-lit", style: { "line-color": of("--focus"), opacity: 1, color: of("--ink"), "z-index-compare": "manual", "z-index": 9 } },
    { selector: "edge.is-told", style: { label: "data(label)" } },
    { selector: "node.is-lit", style: { "border-color": of("--focus") } },
  ];
}

/* Points at an element: it, its links and what they lead to stay, all else fades. */
function light(graph, part) {
  const near = part.isNode() ? part.closedNeighborhood() : part.union(part.connectedNodes());
  graph.elements().difference(near).addClass("is-dim");
  near.edges().addClass("is-lit").not(".says-below, .says-above, .says-between").addClass("is-told");
  part.addClass("is-lit");
}

/* Fades the boxes that wear none of the colours that are chosen in the legend; what wears none at all stays. */
function filter(graph, chosen) {
  for (const box of graph.nodes("[values]").toArray()) {
    box.toggleClass("is-out", chosen.length > 0 && !box.data("values").split(" ").some((value) => chosen.includes(value)));
  }
}

async function draw(element) {
  const elements = JSON.parse(document.getElementById(element.dataset.graph).textContent);
  const width = Number(element.dataset.width);
  const apart = Math.min(Math.max(element.parentElement.clientWidth / width, 1), WIDEST);
  element.style.width = `${Math.floor(width * apart)}px`;
  element.style.height = `${element.dataset.height}px`;
  for (const one of elements) if (one.position) one.position.x *= apart;
  const cytoscape = await library(element.dataset.cytoscape, "cytoscape");
  const graph = cytoscape({
    container: element,
    elements,
    layout: { name: "preset", fit: false },
    style: look(element),
    zoom: 1,
    pan: { x: 0, y: 0 },
    userZoomingEnabled: false,
    userPanningEnabled: false,
    boxSelectionEnabled: false,
    autoungrabify: true,
    pixelRatio: "auto",
  });
  graph.on("tap", "node[url]", (event) => location.assign(event.target.data("url")));
  graph.on("mouseover", "node, edge", (event) => light(graph, event.target));
  graph.on("mouseout", "node, edge", () => graph.elements().removeClass("is-dim is-lit is-told"));
  graph.on("mouseover", "node[url]", () => (element.style.cursor = "pointer"));
  graph.on("mouseout", "node[url]", () => (element.style.cursor = ""));
  const choose = () => filter(graph, element.dataset.chosen?.split(" ").filter(Boolean) ?? []);
  element.addEventListener("portal:filter", choose);
  choose();
  document.addEventListener("portal:theme", () => graph.style(look(element)));
}

bind("[data-graph]", draw);
