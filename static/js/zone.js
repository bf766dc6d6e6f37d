/* Tells the server the time zone of this browser, for people who have not chosen one. */
import { remember } from "./page.js";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

if (zone && !document.cookie.split("; ").includes(`time_zone=${zone}`)) remember("time_zone", zone);
