/** The run that is measured now, or was measured last. */
import { post } from "./api.js";
import { createCharts } from "./charts.js";
import { announce, byId, countText, element, millisecondsText, rateText, say, secondsText } from "./dom.js";

const endings = /** @type {Record<number, string>} */ ({
  0: "ended",
  2: "a setting is wrong",
  3: "brokers, registry or database cannot be reached, or refuse",
  4: "too few messages",
  5: "ended, and some records could not be decoded",
  98: "ended: worse than the baseline",
  99: "ended: a threshold is missed",
  130: "stopped: what is there is not all of it",
});

/** @param {number} exitCode */
export function endingText(exitCode) {
  return endings[exitCode] ?? `failed (exit code ${exitCode})`;
}

/** @param {{ onResult: (id: string) => void, onProblem: (message: string) => void }} listeners */
export function createLive(listeners) {
  return new Live(listeners);
}

class Live {
  #charts = createCharts(byId("live-charts"));
  /** @type {any} */
  #run = null;
  /** @type {import("./charts.js").Point[]} */
  #points = [];
  #isDrawn = true;

  /** @param {{ onResult: (id: string) => void, onProblem: (message: string) => void }} listeners */
  constructor({ onResult, onProblem }) {
    const ask = (/** @type {string} */ path, /** @type {object} */ body = {}) =>
      post(path, body).catch((error) => onProblem(error.message));
    byId("stop").onclick = () => void ask("/api/run/stop");
    byId("record").onclick = () => void ask("/api/run/record", { isOn: this.#run?.recording !== "on" });
    byId("show-result").onclick = () => onResult(this.#run.id);
    setInterval(() => this.#run?.status !== "ended" && this.#showStatus(), 1_000);
  }

  /**
   * @param {any} state
   * @param {import("./charts.js").Point[]} course
   */
  restore(state, course) {
    this.#run = state;
    this.#points = course;
    this.#charts.clear();
    this.#show();
    this.#draw();
  }

  /** @param {any} state */
  change(state) {
    if (this.#run?.id !== state.id) {
      this.#points = [];
      this.#charts.clear();
    }
    if (this.#run?.id !== state.id || this.#run.status !== state.status) {
      announce(`${state.command}: ${state.status === "ended" ? endingText(state.exitCode) : state.status}`);
    }
    this.#run = state;
    this.#show();
  }

  /** @param {{ observation: any, point: import("./charts.js").Point | null }} seen */
  observe({ observation, point }) {
    if (this.#run !== null) {
      this.#run = { ...this.#run, observation };
      showObservation(this.#run);
    }
    if (point !== null) {
      this.#points.push(point);
      this.#draw();
    }
  }

  /** Charts are drawn when the browser paints, however many observations came. */
  #draw() {
    if (this.#isDrawn) {
      this.#isDrawn = false;
      requestAnimationFrame(() => {
        this.#isDrawn = true;
        this.#charts.show(this.#points);
      });
    }
  }

  #showStatus() {
    if (this.#run !== null) {
      const { startedAt, status, exitCode, recording } = this.#run;
      const since = secondsText((Date.now() - Date.parse(startedAt)) / 1e3);
      const text = {
        running: `running for ${since}`,
        stopping: "stopping: it writes what it has",
        ended: endingText(exitCode),
      };
      byId("live-status").textContent = text[/** @type {"running"} */ (status)] + (recording === "on" ? ", recording" : "");
    }
  }

  #show() {
    const run = this.#run;
    byId("live-none").hidden = run !== null;
    byId("live-body").hidden = run === null;
    if (run === null) {
      return;
    }
    byId("live").dataset.status = run.status;
    byId("live-command").textContent = `cdc-bench ${run.title}`;
    this.#showStatus();
    const isRunning = run.status === "running";
    byId("stop").hidden = !isRunning;
    byId("record").hidden = !isRunning;
    byId("record").setAttribute("aria-pressed", String(run.recording === "on"));
    byId("record").textContent = run.recording === "on" ? "Stop recording" : "Record";
    byId("show-result").hidden = !run.hasResult;
    byId("start").toggleAttribute("disabled", run.status !== "ended");
    byId("live-notes").replaceChildren(...run.notes.map((/** @type {string} */ note) => element("li", {}, note)));
    say(byId("live-problem"), run.problem);
    showObservation(run);
  }
}

/** @param {any} run */
function showObservation({ observation, status }) {
  const { phase = "", done, total, countsOffsets, unit = "records", perSecond, leftMs, lag, latencyMs, stages } = observation ?? {};
  byId("live-phase").textContent = phase;
  const progress = byId("live-progress", HTMLProgressElement);
  progress.hidden = !(total > 0 && done !== undefined);
  progress.value = total > 0 ? Math.min(1, (done ?? 0) / total) : 0;
  const ofTotal = total === undefined ? "" : ` of ${countsOffsets ? "at most " : ""}${countText(total)}`;
  // The pace of the last moments is no figure of a run that has ended: its result says another one.
  const isOver = status === "ended";
  /** @type {[string, string | undefined][]} */
  const figures = [
    ["done", done === undefined ? undefined : `${countText(done)}${ofTotal} ${unit}`],
    ["rate", perSecond === undefined || isOver ? undefined : `${rateText(perSecond)} ${unit}/s`],
    ["time left", leftMs === undefined || isOver ? undefined : secondsText(leftMs / 1e3)],
    ["lag", lag === undefined ? undefined : `${countText(lag)} ${unit}`],
    ["p50", latencyMs && millisecondsText(latencyMs.p50)],
    ["p95", latencyMs && millisecondsText(latencyMs.p95)],
    ["p99", latencyMs && millisecondsText(latencyMs.p99)],
  ];
  byId("live-figures").replaceChildren(
    ...figures.flatMap(([name, text]) =>
      text === undefined ? [] : [element("div", { "data-figure": name }, element("dt", {}, name), element("dd", {}, text))],
    ),
  );
  showStages(stages ?? {});
}

/** @param {Record<string, number>} stages */
function showStages(stages) {
  const shares = Object.entries(stages).filter(([, share]) => share > 0);
  const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;
  const bar = shares.map(([, share], index) => {
    const part = element("span", { class: `stage stage-${index % 8}` });
    part.style.flexGrow = String(share);
    return part;
  });
  const key = shares.map(([name, share], index) =>
    element(
      "li",
      { "data-stage": name },
      element("span", { class: `stage-key stage-${index % 8}`, "aria-hidden": "true" }),
      `${name} ${percent(share)}`,
    ),
  );
  byId("live-stages").replaceChildren(
    ...(shares.length === 0
      ? []
      : [
          element("h4", {}, "Stages"),
          element("div", { class: "stages", "aria-hidden": "true" }, ...bar),
          element("ul", { class: "stage-list" }, ...key),
        ]),
  );
}
