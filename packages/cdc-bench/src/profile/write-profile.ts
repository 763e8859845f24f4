import { writeFile } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { BenchError } from "../bench-error.ts";
import { areaShares } from "../presentation/flame-layout.ts";
import { flameGraphSvg } from "../presentation/render/flame.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { ProfileResult } from "../result/profile-result.ts";
import { frameTreeOf } from "./frame-tree.ts";
import { samplingIntervalUs } from "./recorder.ts";

/** A profile has tens of thousands of functions that took less. */
const minShare = 0.001;

const note = "A CPU profile was recorded while this was measured, which costs some percent: compare these figures with no others.";

/** Writes the flame graph and the raw profile, and gives what the result says of them. */
export async function writeProfile(
  profile: Profiler.Profile,
  files: Pick<ProfileResult, "flameGraphFile" | "cpuProfileFile" | "threads">,
  result: BenchResult,
): Promise<{ readonly profile: ProfileResult; readonly notes: readonly string[] }> {
  const root = frameTreeOf(profile, minShare);
  const subtitle = configurationText(result);
  const title = `cdc-bench ${result.command}${result.aborted ? " (aborted)" : ""}`;
  await write(files.cpuProfileFile, JSON.stringify(profile));
  await write(files.flameGraphFile, flameGraphSvg({ kind: "flame", title, subtitle, root }));
  const areas = areaShares(frameTreeOf(profile, 0)).map(({ area, selfUs, share }) => ({ area, selfUs, share }));
  return { profile: { ...files, subtitle, samplingIntervalUs, areas, root }, notes: [...result.notes, note] };
}

/** Every setting in one line, with what it ran on: a picture is passed on without its report. */
function configurationText({ settings, environment: { cpu, cores, node } }: BenchResult): string {
  const set = Object.entries(settings).filter(([, value]) => value !== null && value !== undefined);
  return [...set.map(([name, value]) => `${name}=${valueText(value)}`), `${cpu}, ${cores} cores, Node ${node}`].join(", ");
}

function valueText(value: unknown): string {
  return typeof value === "string"
    ? value
    : JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part));
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown reason";
    throw new BenchError("usage", `cannot write the profile to ${file} (${reason}): name a file in a folder that has room.`, {
      cause: error,
    });
  }
}
