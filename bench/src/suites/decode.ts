import { decodeCases } from "../cases/decode.ts";
import { environment } from "../environment.ts";
import { consumedTotal, type Measured, measure, ratioOf } from "../measure.ts";
import type { Spread } from "../spread.ts";

const warmUpRounds = 3;

/** Decoding alone, in this process: ours beside the peer, in alternating rounds. */
export async function runDecode({
  rounds,
  roundMs,
}: {
  readonly rounds: number;
  readonly roundMs: number;
}): Promise<{ text: string; result: object }> {
  const before = environment();
  const lines: string[] = [];
  const results: object[] = [];
  for (const { name, ours: contender, oursWithSource, peers } of await decodeCases()) {
    const measured = await measure([contender, oursWithSource, ...peers], { rounds, roundMs, warmUpRounds });
    const [ours, withSource, ...others] = measured as [Measured, Measured, ...Measured[]];
    const ratios = peers.map(({ name: peer, target }, i) => {
      const other = others[i] as Measured;
      const ratio = ratioOf(other, ours);
      return { peer, target, held: ratio.median >= target, ratio, ratioWithSource: ratioOf(other, withSource), other };
    });
    const indent = " ".repeat(name.length);
    lines.push(
      `${name}: cdckit ${figure(ours)}, with source read ${figure(withSource)}`,
      ...ratios.map(
        ({ peer, target, held, ratio, ratioWithSource, other }) =>
          `${indent}  ${peer} ${figure(other)}: ${shown(ratio)} (at least ${target}x: ${held ? "held" : "MISSED"}), with source read ${shown(ratioWithSource)}`,
      ),
    );
    results.push({
      name,
      messages: contender.messages,
      peers: ratios.map(({ other: _, ...ratio }) => ratio),
      contenders: measured,
    });
  }
  const setting =
    `${before.cpu}, ${before.cores} cores, Node ${before.node}, commit ${before.commit}, ` +
    `${rounds} rounds of at least ${roundMs} ms in alternation after ${warmUpRounds} of warm-up, load ${before.loadAverage}`;
  return {
    text: ["decode, ns per message, key and value: median [min to max]", ...lines, setting].join("\n"),
    result: { environment: before, rounds, roundMs, warmUpRounds, unit: "ns per message", consumed: consumedTotal(), cases: results },
  };
}

function figure({ medianNs, minNs, maxNs }: Measured): string {
  return `${Math.round(medianNs)} [${Math.round(minNs)} to ${Math.round(maxNs)}]`;
}

function shown({ median, min, max }: Spread): string {
  return `${median.toFixed(2)}x [${min.toFixed(2)} to ${max.toFixed(2)}]`;
}
