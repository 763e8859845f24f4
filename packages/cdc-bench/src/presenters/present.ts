import { BenchError } from "../bench-error.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { ReportDocument } from "../presentation/document.ts";
import { reviveFigures } from "./revive-figures.ts";
import { presentCodec } from "./codec.ts";
import { presentCompare } from "./compare.ts";
import { presentDemo } from "./demo.ts";
import { presentProduce } from "./produce.ts";
import { presentDrain } from "./drain.ts";
import { presentRun } from "./run.ts";
import { presentHttp } from "./http.ts";
import { presentRoundtrip } from "./roundtrip.ts";
import { presentSnapshot } from "./snapshot.ts";
import { presentSoak } from "./soak.ts";
import { presentSweep } from "./sweep.ts";

/** Turns the result of one command into a document. A presenter reads a result as its JSON has it, so that `report` can call it, too. */
export type Presenter = (result: BenchResult) => ReportDocument;

/** By command, the one place where presenters are listed. */
const presenters: Readonly<Record<string, Presenter>> = {
  codec: presentCodec,
  compare: presentCompare,
  roundtrip: presentRoundtrip,
  http: presentHttp,
  demo: presentDemo,
  produce: presentProduce,
  drain: presentDrain,
  run: presentRun,
  snapshot: presentSnapshot,
  soak: presentSoak,
  sweep: presentSweep,
};

/** The document of any command's result. A command without a presenter is an error that names those that have one. */
export function presentResult(result: BenchResult): ReportDocument {
  const present = Object.hasOwn(presenters, result.command) ? presenters[result.command] : undefined;
  if (present === undefined) {
    throw new BenchError("usage", `there is no report for results of ${result.command}, only for ${Object.keys(presenters).join(", ")}.`);
  }
  return present(reviveFigures(result));
}

/** Whether there is a report for results of this command. */
export function hasPresenter(command: string): boolean {
  return Object.hasOwn(presenters, command);
}
