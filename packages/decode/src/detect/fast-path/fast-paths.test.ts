import { expect, test } from "vitest";
import { fastPathMiss } from "../../encoding/fast-path.ts";
import type { RecordCursor } from "../../record.ts";
import type { SideRoute } from "../route.ts";
import { FastPaths } from "./fast-paths.ts";

const routeOf = (table: number): SideRoute => ({ table }) as unknown as SideRoute;
const framed = (table: number): RecordCursor =>
  ({ valueBytes: Uint8Array.of(0, 0, 0, 0, table), valueStart: 0, valueEnd: 5 }) as Partial<RecordCursor> as RecordCursor;

test("after an interruption, no record is read as those that followed before it", () => {
  const key = routeOf(0);
  const routes = Array.from({ length: 20 }, (_, table) => routeOf(table));
  const tried: number[] = [];
  const paths = new FastPaths(
    () => true,
    ({ value }) => {
      const table = routes.indexOf(value);
      const read = ({ valueBytes }: RecordCursor): readonly [] | typeof fastPathMiss => {
        tried.push(table);
        return valueBytes?.[4] === table ? [] : fastPathMiss;
      };
      return { read, keyPrefixBytes: 0, valuePrefixBytes: 5 };
    },
  );
  const decode = (table: number): void => {
    if (paths.read(framed(table)) === fastPathMiss) {
      paths.see(key, routes[table] as SideRoute);
    }
  };
  const decodeAll = (times: number, ...tables: readonly number[]): void => {
    for (let i = 0; i < times; i++) {
      tables.forEach(decode);
    }
  };
  // Tables 0 to 9 get fast paths; eight of them at most are live, and the others are tried for their marks. After 0, 1 comes.
  decodeAll(100, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  decodeAll(100, 0, 1);
  paths.interrupt();
  decodeAll(100, 10, 11, 12, 13, 14, 15);
  tried.length = 0;
  decodeAll(3, 0, 10);
  expect(tried).toContain(0);
  expect(tried).not.toContain(1);
});
