import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import { formatBytes, formatDuration, parseDuration, parseSize } from "../../../src/base/units.ts";

function usageError(work: () => unknown): HvError {
  try {
    work();
  } catch (error) {
    if (error instanceof HvError && error.code === "hv.usage") return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const SIZES: [string, "mb" | "bytes", number][] = [
  ["512", "mb", 512],
  ["512", "bytes", 512],
  ["2G", "mb", 2048],
  ["2g", "mb", 2048],
  ["2GB", "mb", 2048],
  ["512MiB", "mb", 512],
  ["1.5 T", "mb", 1_572_864],
  ["1024K", "mb", 1],
  ["1048576B", "mb", 1],
  ["512MiB", "bytes", 536_870_912],
  ["0.5K", "bytes", 512],
  ["7B", "bytes", 7],
  [" 64k ", "bytes", 65_536],
  ["0", "mb", 0],
  ["8.0", "mb", 8],
];

for (const [text, unit, expected] of SIZES) {
  Deno.test(`the size "${text}" is ${expected} in _${unit}`, () => {
    assert.equal(parseSize(text, unit), expected);
  });
}

const DURATIONS: [string, "s" | "ms", number][] = [
  ["90", "s", 90],
  ["0.5", "s", 0.5],
  ["90s", "s", 90],
  ["90S", "s", 90],
  ["1500ms", "s", 1.5],
  ["1500ms", "ms", 1500],
  ["1.5s", "ms", 1500],
  ["2m", "s", 120],
  ["2min", "s", 120],
  ["1h30m", "s", 5400],
  ["1h 30min 5s", "s", 5405],
  ["7d", "s", 604_800],
  ["0.1h", "s", 360],
];

for (const [text, unit, expected] of DURATIONS) {
  Deno.test(`the duration "${text}" is ${expected} in _${unit}`, () => {
    assert.equal(parseDuration(text, unit), expected);
  });
}

for (
  const text of ["", "G", "-1", "1e3", "0x10", "1,5G", "1_000", "2X", "2 G B", "1.G", ".5G", "2G2", "∞", "٣"]
) {
  Deno.test(`the size "${text}" is refused with its text`, () => {
    const error = usageError(() => parseSize(text, "mb"));
    assert.equal(error.message, `Cannot read "${text}" as a size`);
    assert.match(error.hint ?? "", /512M or 2G/);
  });
}

for (const text of ["", "s", "-1s", "1h1h", "30m1h", "1h30", "5 parsecs", "1ms2", "1 s s", "1mss"]) {
  Deno.test(`the duration "${text}" is refused with its text`, () => {
    assert.equal(usageError(() => parseDuration(text, "s")).message, `Cannot read "${text}" as a duration`);
  });
}

Deno.test("a size that is no whole number of the field's unit is refused, not rounded", () => {
  const error = usageError(() => parseSize("1000K", "mb"));
  assert.equal(error.message, 'The size "1000K" is not a whole number of MiB');
  assert.equal(usageError(() => parseSize("0.1K", "bytes")).code, "hv.usage");
});

Deno.test("a duration finer than a millisecond is refused", () => {
  assert.match(usageError(() => parseDuration("0.0001s", "s")).message, /not a whole number of ms/);
});

Deno.test("numbers beyond exact integers are refused", () => {
  assert.match(usageError(() => parseSize("9007199254740992", "bytes")).message, /too large/);
  assert.equal(parseSize("9007199254740991", "bytes"), Number.MAX_SAFE_INTEGER);
  assert.match(usageError(() => parseSize("9999P", "bytes")).message, /too large/);
});

Deno.test("every number with a unit is exactly that many units", () => {
  const units: [string, number][] = [["", 1], ["K", 1024], ["MiB", 1024 ** 2], ["gb", 1024 ** 3]];
  fc.assert(fc.property(fc.nat(1_000_000), fc.constantFrom(...units), (count, [unit, factor]) => {
    assert.equal(parseSize(`${count}${unit}`, "bytes"), count * factor);
  }));
});

Deno.test("the parts of a duration add up", () => {
  const part = fc.nat(500);
  fc.assert(fc.property(part, part, part, part, (days, hours, minutes, seconds) => {
    const expected = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    assert.equal(parseDuration(`${days}d${hours}h${minutes}m${seconds}s`, "s"), expected);
    assert.equal(parseDuration(`${days}d ${hours}h ${minutes}min ${seconds}s`, "ms"), expected * 1000);
  }));
});

Deno.test("any text gives a number or hv.usage, nothing else", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    for (const read of [() => parseSize(text, "mb"), () => parseDuration(text, "ms")]) {
      try {
        assert.ok(Number.isSafeInteger(read()));
      } catch (error) {
        assert.ok(error instanceof HvError, String(error));
        assert.equal(error.code, "hv.usage");
      }
    }
  }));
});

Deno.test("sizes for people", () => {
  const shown = [0, 1023, 1024, 1536, 1024 ** 2 - 1, 512 * 1024 ** 2, 64 * 1024 ** 3, 2 ** 60].map(
    formatBytes,
  );
  assert.deepEqual(shown, ["0 B", "1023 B", "1 KiB", "1.5 KiB", "1 MiB", "512 MiB", "64 GiB", "1024 PiB"]);
});

Deno.test("durations for people", () => {
  const cases: [number, string][] = [
    [0, "0 ms"],
    [90, "90 ms"],
    [999.7, "1 s"],
    [1500, "1.5 s"],
    [59_940, "59.9 s"],
    [59_960, "1 min"],
    [125_000, "2 min 5 s"],
    [3_600_000, "1 h"],
    [5_400_000, "1 h 30 min"],
    [86_399_999, "1 d"],
    [273_600_000, "3 d 4 h"],
  ];
  for (const [milliseconds, expected] of cases) assert.equal(formatDuration(milliseconds), expected);
});

Deno.test("what people are shown reads back as nearly the same", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (bytes) => {
    const shown = Number.parseFloat(formatBytes(bytes));
    const unit = parseSize(formatBytes(bytes).replace(/^[\d.]+/, "1"), "bytes");
    assert.ok(Math.abs(shown * unit - bytes) <= 0.05 * unit + 1e-6 * bytes, formatBytes(bytes));
  }));
  fc.assert(fc.property(fc.integer({ min: 1, max: 10 ** 11 }), (milliseconds) => {
    const back = parseDuration(formatDuration(milliseconds), "ms");
    assert.ok(Math.abs(back - milliseconds) <= 0.02 * milliseconds + 1, formatDuration(milliseconds));
  }));
});
