/* Every behaviour of the pages; each binds itself by its data- attribute. */
import "./copy.js";
import "./menus.js";
import "./theme.js";
import "./palette.js";
import "./jobs.js";
import "./drop.js";
import "./filter.js";
import "./when.js";
import "./scroll.js";
import "./charts.js";
import "./zone.js";
import "./print.js";
