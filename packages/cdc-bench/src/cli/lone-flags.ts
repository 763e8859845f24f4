import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";

/** Refuses flags that do nothing without another one. A flag that has its default was not given. */
export function refuseAlone(command: Command, flags: readonly string[], needed: string): void {
  command.hook("preAction", () => {
    const given = command.options
      .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
      .map(({ long }) => long);
    const lone = flags.find((flag) => given.includes(flag));
    if (lone !== undefined && !given.includes(needed)) {
      throw new BenchError("usage", `${lone} goes with ${needed}: give both, or neither.`);
    }
  });
}
