import { testReportsAreHandedOn } from "../../measure/wrapped-driver.contract.ts";
import { tapDriver } from "./tap-driver.ts";

testReportsAreHandedOn("a tapped driver", (inner) => tapDriver(inner).driver);
