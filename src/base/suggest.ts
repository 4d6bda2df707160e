/** "Did you mean": the known word that a mistyped one stands for. */

/** A longer word than this is no typing mistake of ours, and the table of distances would be large. */
const LONGEST_WORD = 64;

/**
 * The candidate nearest to a word; `undefined` when none is near. Case and the separators `-`, `_`, `.` and space
 * do not count; about one wrong letter in three does not matter. Of equally near candidates the first one wins.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const wanted = bare(word);
  if (wanted === "") return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const known = bare(candidate);
    if (Math.abs(known.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, known);
    if (distance < bestDistance && distance < known.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How many letters must be added, left out, replaced or swapped with their neighbour to make one text the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let least = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced);
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, at(beforeLast, column - 2) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

function bare(word: string): string {
  return word.toLowerCase().replace(/[-_. ]/g, "");
}
