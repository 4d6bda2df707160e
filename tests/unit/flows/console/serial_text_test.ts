import assert from "node:assert/strict";
import fc from "fast-check";
import type { SerialLog } from "../../../../src/drivers/console_abilities.ts";
import { type LineFinder, textFinder } from "../../../../src/flows/console/line_finder.ts";
import { type Found, readPart, SerialSearch } from "../../../../src/flows/console/serial_text.ts";

function logOf(content: string | Uint8Array, keptFrom = 0): SerialLog {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return {
    size: bytes.length,
    kept_from: keptFrom,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    [Symbol.dispose]: () => {},
  };
}

function searchFor(text: string, from = 0): SerialSearch {
  return new SerialSearch(textFinder(text), from);
}

async function look(
  search: SerialSearch,
  content: string | Uint8Array,
  keptFrom = 0,
): Promise<Found | undefined> {
  return await search.look(logOf(content, keptFrom), new AbortController().signal);
}

Deno.test("without an offset the end is read, with one what follows it", () => {
  const log = logOf("0123456789");
  assert.deepEqual(readPart(log, undefined, 4), { text: "6789", offset: 6, next_offset: 10, size_bytes: 10 });
  assert.deepEqual(readPart(log, 2, 3), {
    ...{ text: "234", offset: 2, next_offset: 5, size_bytes: 10 },
    truncated: true,
  });
  assert.deepEqual(readPart(log, 10, 3), { text: "", offset: 10, next_offset: 10, size_bytes: 10 });
  assert.equal(readPart(log, 99, 3).offset, 10, "an offset behind the end is at the end");
});

Deno.test("what is no longer kept is told and not made up", async () => {
  const content = "\x00\x00\x00\x00456789";
  const log = logOf(content, 4);
  assert.deepEqual(readPart(log, 1, 100), {
    ...{ text: "456789", offset: 4, next_offset: 10, size_bytes: 10 },
    dropped_bytes: 3,
  });
  assert.equal(readPart(log, undefined, 100).text, "456789");
  assert.equal(await look(searchFor("\0"), content, 4), undefined);
});

Deno.test("a log that is read in parts gives the same text as at once", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 4, max: 9 }), (text, limit) => {
    const log = logOf(text);
    let read = "";
    for (let offset = 0; offset < log.size;) {
      const part = readPart(log, offset, limit);
      assert.ok(part.next_offset > offset);
      read += part.text;
      offset = part.next_offset;
    }
    assert.equal(read, readPart(log, 0, log.size).text);
  }));
});

Deno.test("a text is found in the line that holds it, with its offset", async () => {
  const written = "Debian\r\nünser login: ";
  assert.deepEqual(await look(searchFor("login:"), written), { offset: 15, line: "ünser login:" });
  assert.equal(await look(searchFor("login:", 16), written), undefined);
  assert.equal(await look(searchFor("a\nb"), "a\nb"), undefined, "a text lies within one line");
});

Deno.test("a line that grows is looked through again, one that is over is not", async () => {
  const looked: string[] = [];
  const found = textFinder("login:");
  const finder: LineFinder = {
    ...found,
    find(lines, signal) {
      looked.push(...lines);
      return found.find(lines, signal);
    },
  };
  const search = new SerialSearch(finder, 0);
  assert.equal(await look(search, "one\nlog"), undefined);
  assert.deepEqual(await look(search, "one\nlogin: "), { offset: 4, line: "login:" });
  assert.deepEqual(looked, ["one", "log", "login: "]);
});

Deno.test("a guest that was started anew is looked through from its start", async () => {
  const search = searchFor("ready");
  assert.equal(await look(search, "a long first life\n"), undefined);
  assert.deepEqual(await look(search, "ready\n"), { offset: 0, line: "ready" });
});

Deno.test("a text is found wherever it stands in lines of any length", async () => {
  const filler = fc.array(fc.constantFrom("x".repeat(70_000), "short", "", "y".repeat(1_100_000)), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(filler, filler, async (before, after) => {
      const text = [...before, "NEEDLE", ...after].join("\n");
      assert.equal((await look(searchFor("NEEDLE"), text))?.offset, text.indexOf("NEEDLE"));
    }),
    { numRuns: 20 },
  );
});
