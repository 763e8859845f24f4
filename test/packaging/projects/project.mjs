import * as cdckit from "cdckit";
import * as testkit from "@cdckit/testkit";
import { whatUsersDo } from "./what-users-do.cjs";

console.log(JSON.stringify(await whatUsersDo(cdckit, testkit)));
