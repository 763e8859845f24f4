import type { Contestant, PlayedRound } from "./contestant.ts";

/** A contestant with the rounds that count. */
export interface PlayedContestant {
  readonly contestant: Contestant;
  readonly rounds: readonly PlayedRound[];
}

/**
 * Everybody plays once in each round, and another one goes first each time. The first round warms up and is not counted. If it is
 * interrupted, what is there are the rounds that everybody has ended: others cannot be compared.
 */
export async function runRounds(
  contestants: readonly Contestant[],
  rounds: number,
  interrupt: AbortSignal,
  onPlay: (contestant: Contestant, round: number) => void,
): Promise<readonly PlayedContestant[]> {
  const counted = contestants.map((): PlayedRound[] => []);
  for (let round = 0; round <= rounds && !interrupt.aborted; round++) {
    const played = await playRound(contestants, round, interrupt, onPlay);
    if (played !== null && round > 0) {
      played.forEach((each, i) => counted[i]?.push(each));
    }
  }
  return contestants.map((contestant, i) => ({ contestant, rounds: counted[i] ?? [] }));
}

async function playRound(
  contestants: readonly Contestant[],
  round: number,
  interrupt: AbortSignal,
  onPlay: (contestant: Contestant, round: number) => void,
): Promise<readonly PlayedRound[] | null> {
  const played = new Array<PlayedRound>(contestants.length);
  for (let turn = 0; turn < contestants.length; turn++) {
    const index = (round + turn) % contestants.length;
    const contestant = contestants[index]!;
    onPlay(contestant, round);
    const result = await contestant.play();
    if (result === null || interrupt.aborted) {
      return null;
    }
    played[index] = result;
  }
  return played;
}
