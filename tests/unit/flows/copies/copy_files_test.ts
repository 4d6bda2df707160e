import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { sha256Hex } from "../../../../src/base/json.ts";
import { joinPath } from "../../../../src/base/paths.ts";
import { copyFromGuest, copyToGuest } from "../../../../src/flows/copies/copy_files.ts";
import type { ByteSink } from "../../../../src/guest/channel.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { failureOf } from "../../../support/failures.ts";
import { MemoryGuest } from "../../../support/memory_guest.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const host = openDenoHost();
const signal = new AbortController().signal;

/** A guest that must not be asked anything. */
class Untouched extends MemoryGuest {
  override writeFile(): Promise<void> {
    throw new Error("the guest was asked");
  }

  override readFile(): Promise<void> {
    throw new Error("the guest was asked");
  }
}

/** A guest whose file breaks off. */
class Breaking extends MemoryGuest {
  override async readFile(_: string, sink: ByteSink): Promise<void> {
    await sink(new Uint8Array(10));
    throw new HvError("hv.outcome_unknown", "the link broke");
  }
}

Deno.test("a file goes there and back, and its digest is told", async () => {
  await withTemporaryFolder(async (folder) => {
    const guest = new MemoryGuest();
    const [source, back] = [joinPath(folder, "in"), joinPath(folder, "back")];
    const text = "x".repeat(600_000);
    await Deno.writeTextFile(source, text);
    const result = await copyToGuest(host, guest, { source, destination: "/x", overwrite: false }, signal);
    const sha256 = await sha256Hex(text);
    assert.deepEqual(result, { source, destination: "/x", size_bytes: 600_000, sha256, channel: "memory" });
    const request = { source: "/x", destination: back, overwrite: false };
    assert.equal((await copyFromGuest(host, guest, request, signal)).sha256, sha256);
    assert.equal(await Deno.readTextFile(back), text);
  });
});

Deno.test("what cannot be sent fails before the guest is asked", async () => {
  await withTemporaryFolder(async (folder) => {
    const copy = (source: string) => () =>
      copyToGuest(host, new Untouched(), { source, destination: "/x", overwrite: false }, signal);
    await failureOf("hv.not_found", copy(joinPath(folder, "none")));
    const failure = await failureOf("hv.unsupported", copy(folder));
    assert.match(failure.message, /single files/);
  });
});

Deno.test("a place that cannot be written fails before the guest is asked", async () => {
  await withTemporaryFolder(async (folder) => {
    const taken = joinPath(folder, "taken");
    await Deno.writeTextFile(taken, "mine");
    const copy = (destination: string, overwrite = false) => () =>
      copyFromGuest(host, new Untouched(), { source: "/x", destination, overwrite }, signal);
    const failure = await failureOf("hv.conflict", copy(taken));
    assert.deepEqual([failure.context.wanted, failure.context.found], ["absent", "present"]);
    await failureOf("hv.usage", copy(folder, true));
    await failureOf("hv.not_found", copy(joinPath(folder, "none", "x")));
    assert.equal(await Deno.readTextFile(taken), "mine");
  });
});

Deno.test("overwriting replaces a file whole, and a copy that breaks off leaves it as it was", async () => {
  await withTemporaryFolder(async (folder) => {
    const destination = joinPath(folder, "file");
    await Deno.writeTextFile(destination, "old");
    const request = { source: "/x", destination, overwrite: true };
    await failureOf("hv.outcome_unknown", () => copyFromGuest(host, new Breaking(), request, signal));
    assert.equal(await Deno.readTextFile(destination), "old");
    const guest = new MemoryGuest();
    guest.files.set("/x", new TextEncoder().encode("new"));
    await copyFromGuest(host, guest, request, signal);
    assert.equal(await Deno.readTextFile(destination), "new");
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["file"]);
  });
});
