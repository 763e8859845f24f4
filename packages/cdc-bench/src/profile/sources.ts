import { readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { SourceMap, type SourceMapPayload } from "node:module";

/** A place in a file. Lines and columns count from 0, as V8 counts them. */
type Place = Pick<Profiler.ProfileNode["callFrame"], "url" | "lineNumber" | "columnNumber">;

type FindSource = (place: Place) => Place;

/**
 * The profile with the places of functions in the sources that they were written in. Published files are bundles, and a bundle does not say
 * which part of it decodes and which commits. Reads the map beside each file that has functions in the profile.
 */
export function withSources(profile: Profiler.Profile): Profiler.Profile {
  const finders = new Map<string, FindSource>();
  const nodes = profile.nodes.map((node) => {
    const { url } = node.callFrame;
    let find = finders.get(url);
    if (find === undefined) {
      find = sourceFinder(url);
      finders.set(url, find);
    }
    return { ...node, callFrame: { ...node.callFrame, ...find(node.callFrame) } };
  });
  return { ...profile, nodes };
}

function sourceFinder(url: string): FindSource {
  const map = url.startsWith("file:") ? readMap(url) : null;
  if (map === null) {
    return (place) => place;
  }
  return (place) => {
    const entry = map.findEntry(place.lineNumber, place.columnNumber);
    if (!("originalSource" in entry) || entry.originalSource === undefined) {
      return place;
    }
    const { originalSource, originalLine: lineNumber, originalColumn: columnNumber } = entry;
    return { url: new URL(originalSource, url).href, lineNumber, columnNumber };
  };
}

/** The map of a file; null if it has none that can be read. */
function readMap(url: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), "utf8")) as SourceMapPayload);
  } catch {
    return null;
  }
}
