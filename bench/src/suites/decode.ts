import { decodeCases } from "../cases/decode.ts";
import { environment } from "../environment.ts";
import { consumedTotal, type Measured, measure, type Ratio, ratioOf } from "../measure.ts";

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
  for (const { name, peer, target, contenders } of await decodeCases()) {
    const [ours, withSource, other] = measure(contenders, { rounds, roundMs, warmUpRounds }) as [Measured, Measured, Measured];
    const ratio = ratioOf(other, ours);
    const ratioWithSource = ratioOf(other, withSource);
    lines.push(
      `${name}: cdckit ${figure(ours)}, ${peer} ${figure(other)}: ${shown(ratio)} (at least ${target}x: ${ratio.median >= target ? "held" : "MISSED"})`,
      `${" ".repeat(name.length)}  with source read ${figure(withSource)}: ${shown(ratioWithSource)}`,
    );
    results.push({
      name,
      messages: contenders[0].messages,
      target,
      held: ratio.median >= target,
      ratio,
      ratioWithSource,
      contenders: [ours, withSource, other],
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

function shown({ median, min, max }: Ratio): string {
  return `${median.toFixed(2)}x [${min.toFixed(2)} to ${max.toFixed(2)}]`;
}
