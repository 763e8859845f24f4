import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";

/** Where a function of a profile begins. Lines and columns count from 0, as V8 counts them. */
export interface ProfiledPlace {
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

const maps = new Map<string, SourceMap>();

/** The address of the source that a function was written in: our packages are bundles, which have a map beside each file. */
export function sourceOf({ url, lineNumber, columnNumber }: ProfiledPlace): string {
  if (!/^file:.*\/packages\/.*\/dist\//.test(url)) {
    return url;
  }
  const map = mapOf(url);
  const entry = map.findEntry(lineNumber, columnNumber);
  if (!("originalSource" in entry) || entry.originalSource === undefined) {
    return url;
  }
  return new URL(entry.originalSource, url).href;
}

/** Without a map the figures would be wrong, so a missing one is an error. */
function mapOf(url: string): SourceMap {
  let map = maps.get(url);
  if (map === undefined) {
    map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), "utf8")) as SourceMapPayload);
    maps.set(url, map);
  }
  return map;
}
