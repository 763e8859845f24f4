const cdckit = require("cdckit");
const testkit = require("@cdckit/testkit");
const { whatUsersDo } = require("./what-users-do.cjs");

void whatUsersDo(cdckit, testkit).then((said) => console.log(JSON.stringify(said)));
