import * as cdckit from "cdckit";
import * as testkit from "@cdckit/testkit";
import { whatUsersDo } from "../what-users-do.cjs";

test("packages that are imported do the same as elsewhere", async () => {
  expect(await whatUsersDo(cdckit, testkit)).toEqual(JSON.parse(process.env.EXPECTED));
}, 60_000);
