const cdckit = require("cdckit");
const testkit = require("@cdckit/testkit");
const { whatUsersDo } = require("../what-users-do.cjs");

test("packages that are required do the same as elsewhere", async () => {
  expect(await whatUsersDo(cdckit, testkit)).toEqual(JSON.parse(process.env.EXPECTED));
}, 60_000);
