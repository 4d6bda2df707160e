/** Times as dumps store them, as ISO 8601 in UTC. Cut, never rounded, so that two readers agree. */

/** 100 ns units between 1601 and 1970. */
const FILETIME_EPOCH = 116_444_736_000_000_000n;
const LAST_ISO_MILLISECOND = 253_402_300_799_999;

/**
 * Windows FILETIME (100 ns since 1601, UTC) to microseconds, without a fraction when it is zero; null for 0
 * and for what lies outside the years 1601 to 9999.
 */
export function filetimeToIso(ticks: bigint): string | null {
  if (ticks <= 0n) return null;
  const microseconds = (ticks - FILETIME_EPOCH - modulo(ticks, 10n)) / 10n;
  const fraction = modulo(microseconds, 1_000_000n);
  const milliseconds = Number(microseconds - fraction) / 1000;
  if (milliseconds > LAST_ISO_MILLISECOND) return null;
  const seconds = new Date(milliseconds).toISOString().slice(0, 19);
  return fraction === 0n ? `${seconds}Z` : `${seconds}.${fraction.toString().padStart(6, "0")}Z`;
}

/** Seconds since 1970; null for 0, which writers leave for "not known". */
export function unixToIso(seconds: number): string | null {
  if (seconds <= 0 || seconds * 1000 > LAST_ISO_MILLISECOND) return null;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function modulo(value: bigint, divisor: bigint): bigint {
  return ((value % divisor) + divisor) % divisor;
}
