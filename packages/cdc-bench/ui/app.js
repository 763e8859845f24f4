/** The page of `cdc-bench ui`. All state is the server's: a page that is loaded again, and a second one, show the same. */
import { asApiError, follow, post, takeToken } from "./api.js";
import { byId, element, say } from "./dom.js";
import { showForm } from "./forms.js";
import { createLive } from "./live.js";
import { createResults } from "./runs.js";
import { createTopics } from "./topics.js";

const views = ["measure", "results", "topics"];

/** @type {import("./forms.js").ShownForm | null} */
let runForm = null;
/** @type {ReturnType<typeof createTopics> | null} */
let topics = null;

const problem = (/** @type {string} */ message) => say(byId("problem"), message);
const results = createResults({ onProblem: problem });
const live = createLive({
  onProblem: problem,
  onResult: (id) => {
    location.hash = "results";
    void results.show(id);
  },
});

function showView() {
  const wanted = location.hash.slice(1);
  const view = views.includes(wanted) ? wanted : "measure";
  for (const name of views) {
    byId(`view-${name}`).hidden = name !== view;
    const link = document.querySelector(`nav a[href="#${name}"]`);
    if (name === view) {
      link?.setAttribute("aria-current", "page");
    } else {
      link?.removeAttribute("aria-current");
    }
  }
  if (byId("connection").dataset.state === "open") {
    problem("");
  }
}

/** @param {any} state */
function showState(state) {
  byId("version").textContent = state.version;
  if (topics === null) {
    showScenarios(state.forms.runs);
    topics = createTopics(state.forms, state.isMaskForced);
  }
  results.list(state.kept);
  live.restore(state.run, state.points);
  topics.restore(state.look);
}

/** @param {import("./forms.js").Form[]} forms */
function showScenarios(forms) {
  const select = byId("scenario", HTMLSelectElement);
  select.replaceChildren(...forms.map(({ command }) => element("option", { value: command }, command)));
  const show = () => {
    const form = forms.find(({ command }) => command === select.value);
    if (form !== undefined) {
      sessionStorage.setItem("scenario", form.command);
      byId("scenario-about").textContent = form.description;
      runForm = showForm(form, byId("run-fields"), "run");
      say(byId("run-problem"), "");
    }
  };
  const before = sessionStorage.getItem("scenario");
  if (forms.some(({ command }) => command === before)) {
    select.value = before ?? "";
  }
  select.onchange = show;
  show();
}

byId("run-form").onsubmit = async (event) => {
  event.preventDefault();
  say(byId("run-problem"), "");
  runForm?.mark(null, "");
  try {
    const command = byId("scenario", HTMLSelectElement).value;
    const isRecorded = byId("record-from-start", HTMLInputElement).checked;
    await post("/api/run", { command, values: runForm?.values() ?? {}, isRecorded });
  } catch (error) {
    const { message, field } = asApiError(error);
    runForm?.mark(field, message);
    say(byId("run-problem"), message);
  }
};

/** @param {any} run */
function showRun(run) {
  live.change(run);
  if (run.status === "ended" && isShown(run.command)) {
    runForm?.markFlagOf(run.problem);
  }
}

/** @param {string} command */
function isShown(command) {
  return byId("scenario", HTMLSelectElement).value === command;
}

/** @type {Record<string, (data: any) => void>} */
const listeners = {
  state: showState,
  run: showRun,
  observation: (seen) => live.observe(seen),
  kept: (kept) => results.list(kept),
  look: (look) => topics?.change(look),
  records: (lines) => topics?.add(lines),
  closing: () => problem("cdc-bench ui has ended. Start it again, and open the address that it prints."),
};

takeToken();
showView();
addEventListener("hashchange", () => {
  // The address of another start, in the tab of an old one: its forms may be others, and nobody answers the old page any more.
  if (takeToken()) {
    location.reload();
  }
  showView();
});
void follow(
  (name, data) => listeners[name]?.(data),
  (state, reason) => {
    byId("connection").textContent = { open: "Connected", lost: "Not connected", refused: "Refused" }[state];
    byId("connection").dataset.state = state;
    if (state === "open") {
      problem("");
    } else if (state === "refused" || byId("problem").hidden) {
      problem(state === "lost" ? `${reason} The page tries again.` : reason);
    }
  },
);
