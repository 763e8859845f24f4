/** The units that a column like `interval year to month` may keep, the largest first. A column of the third keeps the first two as well. */
const micros: readonly number[] = [0, 0, 0, 3_600_000_000, 60_000_000]; // years, months, days, hours, minutes

/** `P1Y2M3DT4H5M6.789S`, each part with a sign of its own. */
const isoForm =
  /^[-+]?P(?:([-+]?[\d.]+)Y)?(?:([-+]?[\d.]+)M)?(?:([-+]?[\d.]+)W)?(?:([-+]?[\d.]+)D)?(?:T(?:([-+]?[\d.]+)H)?(?:([-+]?[\d.]+)M)?(?:([-+]?[\d.]+)S)?)?$/;

/**
 * Whether an interval has parts that a column drops which keeps only its first `keptUnits` units. A number is in microseconds. Of texts, those in
 * ISO's form are looked at, which sources write.
 */
export function losesUnits(keptUnits: number, value: unknown): boolean {
  const parts =
    typeof value === "string"
      ? isoForm
          .exec(value)
          ?.slice(1)
          .map((part: string | undefined) => Number(part ?? 0))
      : undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts ?? [];
  const isNumber = typeof value === "bigint" || typeof value === "number";
  const time = isNumber ? Number(value) : Math.round(((hours * 60 + minutes) * 60 + seconds) * 1e6);
  const unit = micros[keptUnits - 1] ?? 0;
  const losesTime = unit === 0 ? time !== 0 : time % unit !== 0;
  const losesDays = keptUnits < 3 ? weeks !== 0 || days !== 0 : keptUnits === 3 && !Number.isInteger(weeks * 7 + days);
  return losesTime || losesDays || !Number.isInteger(keptUnits < 2 ? years + months / 12 : months);
}
