import { Session } from "node:inspector/promises";
import { decodeCases } from "../cases/decode.ts";
import { environment } from "../environment.ts";
import type { Contender } from "../measure.ts";
import { type ProfiledPlace, sourceOf } from "../source-of.ts";

const warmUpMs = 1_500;
const sampleIntervalUs = 100;
/** Detection and envelope together may take this share of decoding. */
const maxShare = 0.15;

/** Where a sample fell. `reading` is the message's own bytes: the readers, generated ones included, and the values that they make. */
type Layer = "detection and envelope" | "reading" | "garbage collection" | "bench";

interface ProfileNode {
  readonly id: number;
  readonly callFrame: ProfiledPlace & { readonly functionName: string };
  readonly children?: readonly number[] | undefined;
}

/** Of the time that decoding takes, what each layer takes: by samples of the processor, inlined functions counted as themselves. */
export async function runLayers({
  rounds,
  roundMs,
}: {
  readonly rounds: number;
  readonly roundMs: number;
}): Promise<{ text: string; result: object }> {
  const results: object[] = [];
  const lines: string[] = [];
  for (const { name, ours, oursFresh } of await decodeCases()) {
    const { share: freshShare, samples } = await shareOf(oursFresh, rounds * roundMs);
    const { share: coldShare } = await shareOf(ours, rounds * roundMs);
    const held = freshShare <= maxShare;
    lines.push(
      `${name}: detection and envelope ${percent(freshShare)} (at most ${percent(maxShare)}: ${held ? "held" : "MISSED"}); ` +
        `${percent(coldShare)} with records that come from memory`,
    );
    results.push({ name, share: freshShare, held, samples, coldShare });
  }
  return {
    text: ["layers, share of decoding", ...lines].join("\n"),
    result: { environment: environment(), sampleIntervalUs, maxShare, cases: results },
  };
}

async function shareOf(contender: Contender, forMs: number): Promise<{ share: number; samples: Record<Layer, number> }> {
  // Code that is made while samples are taken knows which of its instructions were inlined from where.
  await sample(contender, warmUpMs);
  const samples = await sample(contender, forMs);
  const decoding = samples["detection and envelope"] + samples.reading + samples["garbage collection"];
  return { share: samples["detection and envelope"] / decoding, samples };
}

async function sample(contender: Contender, forMs: number): Promise<Record<Layer, number>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: sampleIntervalUs });
  await session.post("Profiler.start");
  await runFor(contender, forMs);
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  const counts: Record<Layer, number> = { "detection and envelope": 0, reading: 0, "garbage collection": 0, bench: 0 };
  const layers = layersOf(profile.nodes);
  for (const id of profile.samples ?? []) {
    counts[layers.get(id) ?? "bench"]++;
  }
  return counts;
}

/** What belongs to no file of ours (a built-in function, Buffer's code) counts for its caller. */
function layersOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, Layer> {
  const layers = new Map<number, Layer>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const visit = (node: ProfileNode, around: Layer): void => {
    const layer = layerOf(node.callFrame) ?? around;
    layers.set(node.id, layer);
    for (const child of node.children ?? []) {
      visit(byId.get(child) as ProfileNode, layer); // a profile names its own nodes
    }
  };
  const [root] = nodes;
  if (root !== undefined) {
    visit(root, "bench");
  }
  return layers;
}

function layerOf(callFrame: ProfileNode["callFrame"]): Layer | null {
  const { functionName } = callFrame;
  const url = sourceOf(callFrame);
  if (functionName === "(garbage collector)") {
    return "garbage collection";
  }
  if (/\/decode\/src\/(encoding|values)\//.test(url)) {
    return "reading";
  }
  if (/\/decode\/src\//.test(url)) {
    return "detection and envelope";
  }
  if (url.includes("/bench/")) {
    return "bench";
  }
  // The functions that readers are generated as have no file.
  return /^(read|skip|column|row)\w*$/.test(functionName) && url === "" ? "reading" : null;
}

async function runFor({ pass }: Contender, forMs: number): Promise<void> {
  const endAt = performance.now() + forMs;
  while (performance.now() < endAt) {
    await pass();
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
