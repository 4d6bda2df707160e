/** Sizes and durations as people write them, to and from the numbers of fields. */

import { HvError } from "./errors.ts";

/** The unit of a field by its suffix: `_bytes` or `_mb` (MiB). */
export type SizeUnit = "bytes" | "mb";

/** The unit of a field by its suffix: `_s` or `_ms`. */
export type DurationUnit = "s" | "ms";

/** Letters of sizes, all powers of 1024, since `_mb` fields are MiB: `2G`, `2GB` and `2GiB` are the same. */
const BYTES_OF_LETTER: ReadonlyMap<string, bigint> = new Map(
  ["", "k", "m", "g", "t", "p"].map((letter, power) => [letter, 1024n ** BigInt(power)]),
);

const MILLISECONDS_OF: ReadonlyMap<string, bigint> = new Map([
  ["ms", 1n],
  ["s", 1000n],
  ["m", 60_000n],
  ["min", 60_000n],
  ["h", 3_600_000n],
  ["d", 86_400_000n],
]);

const NUMBER = "(\\d{1,16})(?:\\.(\\d{1,16}))?";
const SIZE = new RegExp(`^${NUMBER}\\s*([kmgtp]?)(?:i?b)?$`, "i");
const BARE_NUMBER = new RegExp(`^${NUMBER}$`);
const DURATION_PART = new RegExp(`\\s*${NUMBER}\\s*(ms|s|min|m|h|d)(?![a-z])`, "iy");

/**
 * Reads a size such as `2G`, `512MiB` or `1.5 T` as a whole number of the field's unit; a bare number is in that
 * unit already. Units are powers of 1024 in any case, with or without `B` and `iB`. Throws `hv.usage`.
 */
export function parseSize(text: string, unit: SizeUnit): number {
  const trimmed = text.trim();
  const example = unit === "mb" ? "512M or 2G" : "64K or 2G";
  const own = unit === "mb" ? "MiB" : "bytes";
  const [, whole, fraction, letter] = SIZE.exec(trimmed) ?? [];
  if (whole === undefined || letter === undefined) {
    throw unreadable(
      "size",
      text,
      `Give a number with a unit, such as ${example}; a bare number is in ${own}`,
    );
  }
  const bare = BARE_NUMBER.test(trimmed);
  const ownBytes = unit === "mb" ? 1024n * 1024n : 1n;
  const factor = bare ? ownBytes : BYTES_OF_LETTER.get(letter.toLowerCase()) ?? 1n;
  return divideExactly(scaled(whole, fraction, factor), ownBytes, "size", text, own);
}

/**
 * Reads a duration such as `90s`, `1.5h` or `1h30m` in the field's unit; a bare number is in that unit already.
 * Units are ms, s, m or min, h and d. Seconds may have a fraction down to a millisecond. Throws `hv.usage`.
 */
export function parseDuration(text: string, unit: DurationUnit): number {
  const trimmed = text.trim();
  const ownMilliseconds = unit === "s" ? 1000n : 1n;
  const [, whole, fraction] = BARE_NUMBER.exec(trimmed) ?? [];
  const total = whole === undefined
    ? sumOfParts(trimmed, text, unit)
    : scaled(whole, fraction, ownMilliseconds);
  const milliseconds = divideExactly(total, 1n, "duration", text, "ms");
  return unit === "s" ? milliseconds / 1000 : milliseconds;
}

/** A size for people: `0 B`, `512 MiB`, `1.5 GiB`, rounded to one decimal. */
export function formatBytes(bytes: number): string {
  const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = bytes;
  let power = 0;
  while (roundToTenth(value) >= 1024 && power < names.length - 1) {
    value /= 1024;
    power++;
  }
  return `${roundToTenth(value)} ${names[power] ?? "B"}`;
}

/** A duration for people, in its two largest units: `90 ms`, `1.5 s`, `2 min 5 s`, `1 h 30 min`, `3 d 4 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (roundToTenth(milliseconds / 1000) < 60) return `${roundToTenth(milliseconds / 1000)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return twoUnits(seconds, 60, "min", "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return twoUnits(minutes, 60, "h", "min");
  return twoUnits(Math.round(minutes / 60), 24, "d", "h");
}

/** An exact decimal number, as a numerator over a power of ten. */
interface Exact {
  numerator: bigint;
  denominator: bigint;
}

function scaled(whole: string, fraction: string | undefined, factor: bigint): Exact {
  const digits = fraction ?? "";
  return { numerator: BigInt(whole + digits) * factor, denominator: 10n ** BigInt(digits.length) };
}

function sumOfParts(trimmed: string, text: string, unit: DurationUnit): Exact {
  const hint = `Give a number with a unit, such as 90s or 1h30m; a bare number is in ${unit}`;
  let sum: Exact = { numerator: 0n, denominator: 1n };
  let previous: bigint | undefined;
  let end = 0;
  while (end < trimmed.length) {
    DURATION_PART.lastIndex = end;
    const [, whole, fraction, name] = DURATION_PART.exec(trimmed) ?? [];
    const factor = MILLISECONDS_OF.get(name?.toLowerCase() ?? "");
    const falls = previous === undefined || (factor !== undefined && factor < previous);
    if (whole === undefined || factor === undefined || !falls) throw unreadable("duration", text, hint);
    const part = scaled(whole, fraction, factor);
    sum = {
      numerator: sum.numerator * part.denominator + part.numerator * sum.denominator,
      denominator: sum.denominator * part.denominator,
    };
    previous = factor;
    end = DURATION_PART.lastIndex;
  }
  if (previous === undefined) throw unreadable("duration", text, hint);
  return sum;
}

function divideExactly(value: Exact, by: bigint, what: string, text: string, own: string): number {
  const divisor = value.denominator * by;
  if (value.numerator % divisor !== 0n) {
    throw new HvError("hv.usage", `The ${what} "${text}" is not a whole number of ${own}`, {
      hint: `Give a ${what} that comes out even in ${own}`,
      context: { value: text, unit: own },
    });
  }
  const result = value.numerator / divisor;
  if (result > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new HvError("hv.usage", `The ${what} "${text}" is too large`, {
      hint: `Give at most ${Number.MAX_SAFE_INTEGER} ${own}`,
      context: { value: text, unit: own },
    });
  }
  return Number(result);
}

function unreadable(what: string, text: string, hint: string): HvError {
  return new HvError("hv.usage", `Cannot read "${text}" as a ${what}`, { hint, context: { value: text } });
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

function twoUnits(value: number, per: number, large: string, small: string): string {
  const rest = value % per;
  const head = `${Math.floor(value / per)} ${large}`;
  return rest === 0 ? head : `${head} ${rest} ${small}`;
}
