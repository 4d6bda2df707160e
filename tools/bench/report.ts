/** Measurements as rows of a table. */

/** One measured thing. */
export interface Row {
  what: string;
  /** NaN for what was not measured; `what` says why. */
  value: number;
  /** What the ratio is taken to; rows without one are the yardstick themselves. */
  baseline?: number;
  /** The most that the value (or the ratio, when there is a baseline) may be. */
  target?: number;
}

/** A table in plain text: what, value, ratio, target, and whether the target is met. */
export function showTable(title: string, rows: readonly Row[]): string {
  const cells = rows.map(({ what, value, baseline, target }) => {
    const ratio = baseline === undefined ? undefined : value / baseline;
    const judged = ratio ?? value;
    return [
      what,
      Number.isNaN(value) ? "" : Number.isInteger(value) ? String(value) : value.toFixed(1),
      ratio === undefined ? "" : `${ratio.toFixed(2)}x`,
      target === undefined ? "" : `at most ${target}${ratio === undefined ? "" : "x"}`,
      target === undefined ? "" : judged <= target ? "met" : "MISSED",
    ];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row.map((cell, column) =>
      column === 1 || column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
    ).join("  ").trimEnd()
  );
  return [title, ...lines.map((line) => `  ${line}`), ""].join("\n");
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/**
 * Measures several things side by side: one round of each after the other, so that a busy moment of the machine hits all of
 * them. The first rounds warm up and do not count. Answers with each one's median in milliseconds.
 */
export async function measureSideBySide(
  works: readonly (() => Promise<number>)[],
  rounds: number,
  warmUps = 2,
): Promise<number[]> {
  const times = works.map((): number[] => []);
  for (let round = -warmUps; round < rounds; round++) {
    for (const [index, work] of works.entries()) {
      const time = await work();
      if (round >= 0) times[index]?.push(time);
    }
  }
  return times.map(median);
}
