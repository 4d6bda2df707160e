import assert from "node:assert/strict";
import fc from "fast-check";
import { readShare } from "../../../../src/flows/machines/shares.ts";
import { failureOf } from "../../../support/failures.ts";

Deno.test("a share is split at its first colon, and :ro makes it read-only", () => {
  assert.deepEqual(readShare("./src:/mnt/src"), { host: "./src", guest: "/mnt/src", read_only: false });
  assert.deepEqual(readShare("/a b,c:/mnt/src:ro"), { host: "/a b,c", guest: "/mnt/src", read_only: true });
});

Deno.test("a drive letter's colon does not separate", () => {
  assert.deepEqual(readShare("C:\\work:/mnt"), { host: "C:\\work", guest: "/mnt", read_only: false });
  assert.deepEqual(readShare("d:/work:/mnt:ro"), { host: "d:/work", guest: "/mnt", read_only: true });
});

Deno.test("what is no share is refused with what is wrong in it", async () => {
  const wrong: [string, RegExp][] = [
    ["", /side is missing/],
    ["/a", /side is missing/],
    [":/mnt", /side is missing/],
    ["/a:", /side is missing/],
    ["/a::ro", /side is missing/],
    ["/a:ro", /"ro" is no full path/],
    ["/a:mnt", /"mnt" is no full path/],
    ["/a:/mnt:r0", /holds a colon/],
    ["/a:/mnt:rw", /holds a colon/],
    ["C:\\work", /side is missing/],
  ];
  for (const [word, why] of wrong) {
    const { message } = await failureOf("hv.usage", () => Promise.resolve().then(() => readShare(word)));
    assert.match(message, why, word);
  }
});

Deno.test("every pair of paths without colons comes back whole", () => {
  const path = fc.string({ minLength: 1 }).filter((text) => !text.includes(":"));
  fc.assert(fc.property(path, path, fc.boolean(), (host, rest, read_only) => {
    const guest = `/${rest}`;
    const word = `${host}:${guest}${read_only ? ":ro" : ""}`;
    if (/^[A-Za-z]:[\\/]/.test(word)) return;
    assert.deepEqual(readShare(word), { host, guest, read_only });
  }));
});
