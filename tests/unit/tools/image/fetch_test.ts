import assert from "node:assert/strict";
import fetchImage from "../../../../src/tools/image/fetch.ts";
import { HvError } from "../../../../src/base/errors.ts";

const prepare = (url: string): unknown =>
  fetchImage.prepare({ url, sha256: "ab".repeat(32), name: "cloud" }).args.url;

Deno.test("an address that no program could ask is refused before anything is done", () => {
  for (const url of ["http://[x", "http://a b/", "https://", "ftp://example.org/x", "http://x:99999/"]) {
    assert.throws(() => prepare(url), (error) => error instanceof HvError && error.code === "hv.usage", url);
  }
  assert.equal(prepare("https://example.org:8443/a.img"), "https://example.org:8443/a.img");
});
