import * as cdckit from "cdckit";
import { isDecodeError } from "cdckit";
import * as testkit from "@cdckit/testkit";
import { whatUsersDo } from "../what-users-do.cjs";

test("packages that TypeScript requires do the same as elsewhere", async () => {
  expect(await whatUsersDo(cdckit, testkit)).toEqual(JSON.parse(process.env["EXPECTED"]!));
}, 60_000);

test("an error is known, though its class is one of Jest's realm", async () => {
  const record = testkit.recordOf(`{"id":`);
  const error = await Promise.resolve()
    .then(() => cdckit.createDecoder().decode(record))
    .catch((thrown: unknown) => thrown);
  expect(isDecodeError(error)).toBe(true);
});
