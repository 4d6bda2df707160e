/** What taints a kernel, in letters as an oops shows them and in words. */

/** One row for each bit, from bit 0. Letters and meanings as the kernel's own documentation lists them. */
const TAINTS: readonly [letter: string, meaning: string][] = [
  ["P", "proprietary module loaded"],
  ["F", "module loaded by force"],
  ["S", "kernel running outside its specification"],
  ["R", "module unloaded by force"],
  ["M", "machine check happened"],
  ["B", "bad page referenced"],
  ["U", "taint asked for by a program"],
  ["D", "kernel died before: an oops or a BUG"],
  ["A", "firmware table overridden"],
  ["W", "kernel warned before"],
  ["C", "staging driver loaded"],
  ["I", "firmware bug worked around"],
  ["O", "module from outside the kernel tree loaded"],
  ["E", "unsigned module loaded"],
  ["L", "soft lockup happened before"],
  ["K", "kernel live-patched"],
  ["X", "taint of the distribution"],
  ["T", "kernel built with randomized structures"],
  ["N", "test module loaded"],
];
/** Stands in place of P when no module is proprietary. */
const ALL_FREE = "G";

/** Taint as letters, `GDOE`, and what each of them means. */
export interface Taint {
  readonly letters: string;
  readonly words: readonly string[];
}

/** Taint of the kernel's own bit mask. */
export function taintOfMask(mask: bigint): Taint {
  const set = TAINTS.filter((_, bit) => ((mask >> BigInt(bit)) & 1n) === 1n);
  const letters = set.map(([letter]) => letter).join("");
  return {
    letters: (mask & 1n) === 1n ? letters : ALL_FREE + letters,
    words: set.map(([, meaning]) => meaning),
  };
}

/** Taint of the letters in an oops. */
export function taintOfLetters(letters: string): Taint {
  return {
    letters,
    words: TAINTS.filter(([letter]) => letters.includes(letter)).map(([, meaning]) => meaning),
  };
}
