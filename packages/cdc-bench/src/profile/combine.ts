import type { Profiler } from "node:inspector";

/**
 * Several profiles as one, as if nothing had happened between them: what a command measures may come in parts. Functions with the same
 * callers are one node.
 */
export function combineProfiles(profiles: readonly Profiler.Profile[]): Profiler.Profile {
  const [first] = profiles;
  if (first === undefined || profiles.length === 1) {
    return first ?? { nodes: [], startTime: 0, endTime: 0 };
  }
  const nodes: Profiler.ProfileNode[] = [];
  const byCall = new Map<string, Profiler.ProfileNode>();
  const samples: number[] = [];
  const timeDeltas: number[] = [];

  const nodeFor = ({ callFrame, hitCount = 0 }: Profiler.ProfileNode, caller: Profiler.ProfileNode | undefined): Profiler.ProfileNode => {
    const { functionName, url, lineNumber, columnNumber } = callFrame;
    const call = [caller?.id ?? 0, functionName, url, lineNumber, columnNumber].join("\n");
    const known = byCall.get(call);
    if (known !== undefined) {
      known.hitCount = (known.hitCount ?? 0) + hitCount;
      return known;
    }
    const node: Profiler.ProfileNode = { id: nodes.length + 1, callFrame, hitCount };
    nodes.push(node);
    byCall.set(call, node);
    if (caller !== undefined) {
      caller.children = [...(caller.children ?? []), node.id];
    }
    return node;
  };

  /** Between the last sample of a profile and its end. */
  let untilEndUs = 0;
  for (const profile of profiles) {
    const byId = new Map(profile.nodes.map((node) => [node.id, node]));
    const newIds = new Map<number, number>();
    const add = (node: Profiler.ProfileNode, caller: Profiler.ProfileNode | undefined): void => {
      const combined = nodeFor(node, caller);
      newIds.set(node.id, combined.id);
      for (const id of node.children ?? []) {
        const child = byId.get(id);
        if (child !== undefined) {
          add(child, combined);
        }
      }
    };
    const [root] = profile.nodes;
    if (root !== undefined) {
      add(root, undefined);
    }
    for (const [i, id] of (profile.samples ?? []).entries()) {
      samples.push(newIds.get(id) ?? 1);
      timeDeltas.push((profile.timeDeltas?.[i] ?? 0) + (i === 0 ? untilEndUs : 0));
    }
    untilEndUs = profile.endTime - profile.startTime - (profile.timeDeltas ?? []).reduce((sum, deltaUs) => sum + deltaUs, 0);
  }
  const lengthUs = profiles.reduce((sum, { startTime, endTime }) => sum + (endTime - startTime), 0);
  return { nodes, startTime: first.startTime, endTime: first.startTime + lengthUs, samples, timeDeltas };
}
