import { expect, test } from "vitest";
import { plantedBugs } from "./planted-bugs.ts";
import { simulate } from "./simulation.ts";

/** So many schedules must show a bug at the latest. */
const patience = Number(process.env["SIMULATION_PATIENCE"] ?? 2_000);

test("every planted bug is caught", async ({ task }) => {
  const missed: string[] = [];
  for (const bug of plantedBugs) {
    let isCaught = false;
    for (let seed = 1; seed <= patience && !isCaught; seed++) {
      const { violations } = await simulate(seed, { bug });
      isCaught = violations.length > 0;
    }
    if (!isCaught) {
      missed.push(bug.name);
    }
  }
  task.meta.summary = `simulation: ${plantedBugs.length - missed.length} of ${plantedBugs.length} planted bugs caught, each within ${patience} schedules`;
  expect(missed).toEqual([]);
  expect(plantedBugs.length).toBeGreaterThanOrEqual(20);
}, 1_200_000);
