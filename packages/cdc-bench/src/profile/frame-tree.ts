import type { Profiler } from "node:inspector";
import type { Frame, ProfileArea } from "../result/profile-frame.ts";
import { areaOf } from "./areas.ts";

/**
 * The functions of a profile as a tree, with the time that each was on the processor or that what it called was.
 * @param minShare what took less of the whole is not kept apart from its caller
 */
export function frameTreeOf({ nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile, minShare: number): Frame {
  const selfUs = new Map<number, number>();
  let untilNextUs = endTime - startTime - timeDeltas.reduce((sum, deltaUs) => sum + deltaUs, 0);
  for (let i = samples.length - 1; i >= 0; i--) {
    const id = samples[i] as number; // the index is within the list
    // What was seen at a sample is taken to last until the next one: a wait is seen when it begins. V8 writes negative deltas if samples were
    // taken out of order.
    selfUs.set(id, (selfUs.get(id) ?? 0) + Math.max(0, untilNextUs));
    untilNextUs = timeDeltas[i] ?? 0;
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const [first] = nodes;
  if (first === undefined) {
    return { name: "(root)", valueUs: 0, area: "other", children: [] };
  }
  const totalOf = createTotals(byId, selfUs);
  const minUs = totalOf(first) * minShare;

  const frameOf = (node: Profiler.ProfileNode, caller: ProfileArea | undefined): Frame => {
    const { functionName, url, lineNumber } = node.callFrame;
    const isRoot = functionName === "(root)" && url === "";
    const area = isRoot ? "other" : areaOf(functionName, url, caller);
    const called = (node.children ?? []).flatMap((id) => byId.get(id) ?? []);
    return {
      name: nameOf(functionName, url, lineNumber),
      valueUs: totalOf(node),
      area,
      children: called
        .filter((child) => totalOf(child) >= minUs && totalOf(child) > 0)
        .map((child) => frameOf(child, isRoot ? undefined : area))
        .sort((a, b) => b.valueUs - a.valueUs),
    };
  };
  return frameOf(first, undefined);
}

/** V8 keeps stacks of 255 calls at most, so the recursion ends. */
function createTotals(
  byId: ReadonlyMap<number, Profiler.ProfileNode>,
  selfUs: ReadonlyMap<number, number>,
): (node: Profiler.ProfileNode) => number {
  const totals = new Map<number, number>();
  const totalOf = (node: Profiler.ProfileNode): number => {
    const known = totals.get(node.id);
    if (known !== undefined) {
      return known;
    }
    const children = (node.children ?? []).flatMap((id) => byId.get(id) ?? []);
    const total = children.reduce((sum, child) => sum + totalOf(child), selfUs.get(node.id) ?? 0);
    totals.set(node.id, total);
    return total;
  };
  return totalOf;
}

/** `readRecord decode/dist/encoding/avro/reader.js:12`: where a package is installed says something of the machine, and nothing of the profile. */
function nameOf(functionName: string, url: string, lineNumber: number): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") {
    return name;
  }
  if (url.startsWith("node:")) {
    return `${name} ${url}`;
  }
  const path = url.replaceAll("\\", "/");
  const place = /.*\/node_modules\/(.*)$/.exec(path)?.[1] ?? /.*\/packages\/(.*)$/.exec(path)?.[1] ?? path.split("/").at(-1) ?? "";
  return `${name} ${place}:${lineNumber + 1}`;
}
