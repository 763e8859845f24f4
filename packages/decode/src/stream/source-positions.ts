import { comparePosition, positionOf, type SourcePosition } from "../position/position.ts";
import type { Positions } from "./deduplicator.ts";

/** Connectors whose positions tell apart any two changes of one row. */
const withDistinctPositions: ReadonlySet<string> = new Set(["postgresql", "mysql", "mariadb", "sqlserver", "oracle"]);

/** The positions that connectors state in their source blocks, for a `Deduplicator`. */
export const sourcePositions: Positions<SourcePosition> = Object.freeze({
  positionOf,
  compare: comparePosition,
  isShared: ({ connector }: SourcePosition): boolean => !withDistinctPositions.has(connector),
});
