import assert from "node:assert/strict";
import { BoundedBytes } from "../../../../src/base/bounded_bytes.ts";
import { WholeOutput } from "../../../../src/flows/guest/whole_output.ts";
import { ScriptedHost } from "../../../support/scripted_host.ts";

const LIMITS = { head: 4, tail: 4 };

async function write(
  place: { host: ScriptedHost; folder: string },
  parts: readonly string[],
): Promise<WholeOutput> {
  const kept = new BoundedBytes(LIMITS);
  const whole = new WholeOutput(place, "stdout", LIMITS.head + LIMITS.tail);
  for (const part of parts) {
    const bytes = new TextEncoder().encode(part);
    await whole.push(bytes, kept);
    kept.push(bytes);
  }
  whole.close();
  return whole;
}

Deno.test("a stream that fits the answer makes no file", async () => {
  await using host = await ScriptedHost.open();
  const whole = await write({ host, folder: `${host.root}/results` }, ["1234", "5678"]);
  assert.deepEqual([whole.file, await host.files.stat(`${host.root}/results`)], [undefined, undefined]);
});

Deno.test("a longer one lies whole in a file, from its first byte", async () => {
  await using host = await ScriptedHost.open();
  for (const parts of [["123456789"], ["12", "345", "6789abc"], ["12345678", "9", "abc"]]) {
    const { file = "" } = await write({ host, folder: `${host.root}/results` }, parts);
    assert.equal(await Deno.readTextFile(file), parts.join(""));
    if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
  }
});

Deno.test("a file that cannot be written costs the file and not the program", async () => {
  await using host = await ScriptedHost.open();
  await Deno.writeTextFile(`${host.root}/results`, "a file where the folder should be");
  const whole = await write({ host, folder: `${host.root}/results` }, ["123456789", "more"]);
  assert.equal(whole.file, undefined);
  assert.notEqual(whole.problem, undefined);
});

Deno.test("old files go when there are too many", async () => {
  await using host = await ScriptedHost.open();
  const folder = `${host.root}/results`;
  await Deno.mkdir(folder);
  for (let index = 0; index < 60; index++) await Deno.writeTextFile(`${folder}/0${100 + index}.json`, "");
  const { file = "" } = await write({ host, folder }, ["123456789"]);
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
  assert.deepEqual([names.length, names[0]], [51, "0110.json"]);
  assert.ok(file.endsWith(names.at(-1) ?? "none"));
});
