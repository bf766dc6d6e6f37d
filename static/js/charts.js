/* Draws Plotly figures from JSON script blocks, in the colours of the theme, and again when it changes.
   The library is loaded when the first chart comes near the screen. */
import { colour, library } from "./drawing.js";
import { bind, texts } from "./page.js";

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const MARKERS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"]; // one more than colours
const REMOVED = ["lasso2d", "select2d", "sendChartToCloud"];
const LOCALES = { own: { dictionary: texts.chart ?? {} } };
const drawn = new Set();

/** Layout of every chart; what the figure says itself wins. */
function themed(element, layout) {
  const ink = colour(element, "--ink");
  const line = colour(element, "--line");
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, title: { standoff: 8 } };
  const axes = {};
  for (const key of new Set([...Object.keys(layout), "xaxis", "yaxis"])) {
    if (/^[xy]axis\d*$/.test(key)) axes[key] = { ...axis, ...layout[key], title: { ...axis.title, ...titleOf(layout[key]) } };
  }
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    colorway: [1, 2, 3, 4, 5, 6].map((step) => colour(element, `--series-${step}`)),
    font: { color: ink, family: getComputedStyle(document.body).fontFamily, size: 12 },
    hoverlabel: { bgcolor: colour(element, "--surface-raised"), bordercolor: line, font: { color: ink } },
    legend: { orientation: "h", y: -0.2, x: 0 },
    margin: { l: 48, r: 12, t: 8, b: 40 },
    hovermode: "x unified",
    ...layout,
    ...axes,
  };
}

const titleOf = (axis) => (typeof axis?.title === "string" ? { text: axis.title } : axis?.title);

/** Series differ by dash and marker as well as by colour. */
function told(trace, index) {
  if (trace.type && trace.type !== "scatter") return trace;
  return {
    ...trace,
    line: { dash: DASHES[index % DASHES.length], width: 2, ...trace.line },
    marker: { symbol: MARKERS[index % MARKERS.length], size: 6, ...trace.marker },
  };
}

async function draw(element) {
  const figure = JSON.parse(document.getElementById(element.dataset.chart).textContent);
  const plotly = await library(element.dataset.plotly, "Plotly");
  const data = figure.data.map(told);
  const options = { displaylogo: false, responsive: true, modeBarButtonsToRemove: REMOVED, locale: "own", locales: LOCALES };
  await plotly.react(element, data, themed(element, figure.layout ?? {}), options);
  // The table below is for keyboards and readers; nothing inside the hidden figure takes the focus.
  for (const part of element.querySelectorAll("a, button, [tabindex]")) part.setAttribute("tabindex", "-1");
  drawn.add(element);
}

const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      watcher.unobserve(entry.target);
      draw(entry.target);
    }
  },
  { rootMargin: "200px" },
);

bind("[data-chart]", (element) => watcher.observe(element));
document.addEventListener("portal:theme", () => {
  for (const element of drawn) {
    if (element.isConnected) draw(element);
    else drawn.delete(element);
  }
});
