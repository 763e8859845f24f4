import type { IncomingMessage, ServerResponse } from "node:http";
import { BenchError } from "../bench-error.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { FlameGraph } from "../presentation/document.ts";
import { flameGraphSvg } from "../presentation/render/flame.ts";
import { compareFigures, figuresOf, metricsIn } from "./comparison.ts";
import type { EventStream } from "./event-stream.ts";
import type { Form } from "./form.ts";
import { argsOf, FormError, type FormValues } from "./form-args.ts";
import { answer, answerJson, HttpError, readBody } from "./http-answers.ts";
import type { KeptRun, KeptRuns } from "./kept-runs.ts";
import type { LookSession } from "./look-session.ts";
import { type ReportAddresses, reportForms, reportHeaders, type RunToReport } from "./report-pages.ts";
import type { RunSession } from "./run-session.ts";

/** A topic in the list of the page. */
export interface ListedTopic {
  readonly name: string;
  readonly partitions: number;
  /** At most: compaction and transactions leave offsets without records. */
  readonly maxRecords: number;
}

/** What the routes work on. */
export interface UiParts {
  readonly version: string;
  readonly runForms: readonly Form[];
  readonly lookForm: Form;
  readonly topicsForm: Form;
  /** Whether all values are hidden whatever a page asks for. */
  readonly isMaskForced: boolean;
  readonly kept: KeptRuns;
  readonly events: EventStream;
  readonly runs: RunSession;
  readonly looks: LookSession;
  readonly reports: ReportAddresses;
  listTopics(args: readonly string[]): Promise<readonly ListedTopic[]>;
}

type Route = (parts: UiParts, request: IncomingMessage, response: ServerResponse, id: string) => Promise<void> | void;

/** By method and path; `*` is the id of a kept run. */
const routes: Readonly<Record<string, Route>> = {
  "GET /api/state": async (parts, _request, response) => answerJson(response, 200, await stateOf(parts)),
  "GET /api/events": openEvents,
  "POST /api/run": startRun,
  "POST /api/run/stop": (parts, _request, response) => {
    parts.runs.stop();
    answerJson(response, 200, {});
  },
  "POST /api/run/record": recordRun,
  "GET /api/kept/*": showKept,
  "DELETE /api/kept/*": removeKept,
  "GET /api/compare": compareKept,
  "POST /api/topics": showTopics,
  "POST /api/look": startLook,
  "POST /api/look/stop": (parts, _request, response) => {
    parts.looks.stop();
    answerJson(response, 200, {});
  },
};

/** Answers a request to the API that the guard has let through. */
export async function answerApi(parts: UiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const [, id = ""] = /^\/api\/kept\/([\w-]+)$/.exec(pathname) ?? [];
  const route = routes[`${request.method} ${id === "" ? pathname : "/api/kept/*"}`];
  try {
    if (route === undefined) {
      throw new HttpError(404, "There is nothing at this address.");
    }
    await route(parts, request, response, id);
  } catch (error) {
    const { status, message, field } = refusalOf(error);
    if (response.headersSent) {
      response.destroy();
    } else {
      answerJson(response, status, { error: message, field });
    }
  }
}

function refusalOf(error: unknown): { readonly status: number; readonly message: string; readonly field: string | null } {
  if (error instanceof HttpError) {
    return error;
  }
  if (error instanceof FormError) {
    return { status: 400, message: error.message, field: error.field };
  }
  if (error instanceof BenchError) {
    return { status: 400, message: `${error.detail.charAt(0).toUpperCase()}${error.detail.slice(1)}`, field: null };
  }
  const said = error instanceof Error ? error.message : String(error);
  return { status: 500, message: `Unexpected: ${said}`, field: null };
}

async function stateOf({ version, runForms, lookForm, topicsForm, isMaskForced, kept, runs, looks }: UiParts): Promise<object> {
  const forms = { runs: runForms, look: lookForm, topics: topicsForm };
  return {
    version,
    forms,
    isMaskForced,
    kept: await finishedRuns({ kept, runs }),
    run: runs.state,
    points: runs.points,
    look: looks.state,
  };
}

/** What the run that is measured now has kept so far is no result: listed, it would look like one that was cut off. */
async function finishedRuns({ kept, runs }: Pick<UiParts, "kept" | "runs">): Promise<readonly KeptRun[]> {
  const measured = runs.isRunning ? runs.state?.id : undefined;
  return (await kept.list()).filter(({ id }) => id !== measured);
}

async function openEvents(parts: UiParts, _request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!parts.events.open(response, [{ name: "state", data: await stateOf(parts) }])) {
    throw new HttpError(503, "Too many pages are open: close some of them.");
  }
}

async function startRun({ runForms, runs, looks }: UiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { command, values, isRecorded } = await readBody(request);
  const form = runForms.find((one) => one.command === command);
  if (form === undefined) {
    throw new HttpError(400, `There is no such scenario; there are ${runForms.map((one) => one.command).join(", ")}.`);
  }
  const args = argsOf(form, valuesIn(values));
  if (runs.isRunning) {
    throw new HttpError(409, "A run is being measured: stop it, or wait for its end.");
  }
  // Who looks into a topic takes what is measured from the same broker and the same cores.
  const run = await runs.start(form.command, args, isRecorded === true, () => looks.close());
  answerJson(response, 202, run);
}

async function recordRun({ runs }: UiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { isOn } = await readBody(request);
  if (typeof isOn !== "boolean") {
    throw new HttpError(400, "isOn must be true or false.");
  }
  if (!runs.isRunning) {
    throw new HttpError(409, "Nothing is being measured.");
  }
  runs.record(isOn);
  answerJson(response, 200, {});
}

function valuesIn(values: unknown): FormValues {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new HttpError(400, "values must be an object.");
  }
  return values as FormValues;
}

/** One kept run: its figures; or, with `?as=`, a file of it. */
async function showKept({ kept, reports }: UiParts, request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
  const run = await keptRun(kept, id);
  const name = new URL(request.url ?? "/", "http://localhost").searchParams.get("as");
  const form = name !== null && Object.hasOwn(reportForms, name) ? reportForms[name] : undefined;
  if (name === null) {
    answerJson(response, 200, {
      ...(await kept.list()).find((one) => one.id === id),
      isPartial: Object(run.result)["aborted"] === true,
      figures: figuresOf(metricsIn(run.result)),
      hasFlame: run.flame !== null,
      text: tried(() => reportForms["txt"]?.render(run)) ?? null,
      report: reports.addressOf(id),
    });
  } else if (form !== undefined) {
    answer(response, 200, form.type, form.render(run), reportHeaders);
  } else if (name === "json") {
    answer(response, 200, "application/json; charset=utf-8", run.text);
  } else if (name === "svg" && run.flame !== null) {
    answer(response, 200, "image/svg+xml; charset=utf-8", flameGraphSvg(run.flame));
  } else {
    const none = name === "svg" ? "No profile was recorded in this run." : `as must be json, svg, ${Object.keys(reportForms).join(", ")}.`;
    throw new HttpError(404, none);
  }
}

/** Null for a result whose command has no report. */
function tried<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

/** @throws HttpError if there is no such run, or its result was cut off */
export async function keptRun(kept: KeptRuns, id: string): Promise<RunToReport> {
  const [text, flame] = await Promise.all([kept.resultText(id).catch(() => null), kept.flame(id).catch(() => null)]).catch(() => [
    null,
    null,
  ]);
  if (text === null) {
    throw new HttpError(404, "There is no such run: it may have been removed.");
  }
  try {
    return { text, result: JSON.parse(text) as BenchResult, flame: flame as FlameGraph | null };
  } catch {
    throw new HttpError(404, "The result of this run was cut off.");
  }
}

async function removeKept({ kept, runs, events }: UiParts, _request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
  if (runs.isRunning && runs.state?.id === id) {
    throw new HttpError(409, "This run is being measured: stop it first.");
  }
  await keptRun(kept, id);
  await kept.remove(id);
  answerJson(response, 200, {});
  events.send({ name: "kept", data: await finishedRuns({ kept, runs }) });
}

async function compareKept({ kept }: UiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  const [before, now] = await Promise.all([keptRun(kept, query.get("before") ?? ""), keptRun(kept, query.get("now") ?? "")]);
  if (before.result.command !== now.result.command) {
    throw new HttpError(400, `Only runs of one command can be compared, not ${before.result.command} and ${now.result.command}.`);
  }
  const isPartial = before.result.aborted || now.result.aborted;
  answerJson(response, 200, { figures: compareFigures(metricsIn(before.result), metricsIn(now.result)), isPartial });
}

async function showTopics({ topicsForm, listTopics }: UiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { values } = await readBody(request);
  answerJson(response, 200, { topics: await listTopics(argsOf(topicsForm, valuesIn(values))) });
}

async function startLook(parts: UiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { lookForm, isMaskForced, runs, looks } = parts;
  const { values } = await readBody(request);
  const args = argsOf(lookForm, valuesIn(values));
  await looks.close(); // a run may begin meanwhile
  if (runs.isRunning) {
    throw new HttpError(409, "A run is being measured, and a look into topics would disturb it: stop it, or wait for its end.");
  }
  const isMasked = isMaskForced || args.includes("--mask-values");
  const masked = isMasked && !args.includes("--mask-values") ? ["--mask-values", ...args] : args;
  await looks.start(masked, isMasked);
  answerJson(response, 202, {});
}
