import assert from "node:assert/strict";
import { readCloudInit } from "../../../../../src/flows/machines/cloud_init_wish.ts";
import { writeDisc } from "../../../../../src/drivers/qemu/cloud_init/iso9660.ts";
import { hostNameFrom, seedFiles } from "../../../../../src/drivers/qemu/cloud_init/seed.ts";
import { openDenoHost } from "../../../../../src/host/deno_host.ts";
import { failureOf } from "../../../../support/failures.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

/** Reads a disc by the standard alone: the descriptor in sector 16, then the records of the root folder. */
function readDisc(disc: Uint8Array): { label: string; files: Record<string, string> } {
  const view = new DataView(disc.buffer);
  const text = (at: number, length: number): string =>
    new TextDecoder("latin1").decode(disc.subarray(at, at + length));
  assert.equal(disc.length % 2048, 0);
  const start = 16 * 2048;
  assert.equal(text(start, 7), "\x01CD001\x01");
  assert.equal(text(start + 2048, 7), "\xffCD001\x01");
  assert.deepEqual([view.getUint32(start + 80, true), view.getUint32(start + 84, false)], [
    disc.length / 2048,
    disc.length / 2048,
  ]);
  const root = view.getUint32(start + 156 + 2, true) * 2048;
  assert.equal(view.getUint32(view.getUint32(start + 140, true) * 2048 + 2, true) * 2048, root);
  assert.equal(view.getUint32(view.getUint32(start + 148, false) * 2048 + 2, false) * 2048, root);
  const files: Record<string, string> = {};
  for (let at = root; disc[at] !== 0; at += disc[at] ?? 0) {
    const name = text(at + 33, disc[at + 32] ?? 0);
    const size = view.getUint32(at + 10, true);
    assert.equal(view.getUint32(at + 14, false), size);
    if ((disc[at + 25] ?? 0) === 0) files[name] = text(view.getUint32(at + 2, true) * 2048, size);
  }
  return { label: text(start + 40, 32).trim(), files };
}

Deno.test("a disc has its label and its files, of any size", () => {
  const encode = (value: string): Uint8Array => new TextEncoder().encode(value);
  const long = "x".repeat(5000);
  const files = [{ name: "b-1", content: encode(long) }, { name: "a", content: encode("") }, {
    name: "c",
    content: encode("c"),
  }];
  assert.deepEqual(readDisc(writeDisc("CIDATA", files)), {
    label: "CIDATA",
    files: { "A.;1": "", "B-1.;1": long, "C.;1": "c" },
  });
});

Deno.test("a seed has what was given, and what hvlab adds is JSON that no name breaks", () => {
  const id = "vm-0718bdfa-9668-4411-a20f-eb5b97733a45";
  const facts = { id, name: 'my "box": #1', network: true };
  const files = new Map(
    seedFiles(
      { ssh_keys: ["ssh-ed25519 AAAA me"], user_data: new TextEncoder().encode("#!/bin/sh\n") },
      facts,
    )
      .map(({ name, content }) => [name, new TextDecoder().decode(content)]),
  );
  assert.deepEqual(JSON.parse(files.get("meta-data") ?? ""), {
    "instance-id": "0718bdfa-9668-4411-a20f-eb5b97733a45",
    "local-hostname": "my-box-1",
    "public-keys": ["ssh-ed25519 AAAA me"],
  });
  assert.equal(files.get("user-data"), "#!/bin/sh\n");
  assert.equal(JSON.parse(files.get("network-config") ?? "").ethernets.cards.dhcp4, true);
  const bare = seedFiles({ ssh_keys: [], host_name: "A.b" }, { ...facts, network: false });
  assert.match(new TextDecoder().decode(bare[0]?.content), /"local-hostname":"A\.b"/);
  assert.match(new TextDecoder().decode(bare[1]?.content), /^#cloud-config\n/);
  assert.match(new TextDecoder().decode(bare[2]?.content), /"ethernets":\{\}/);
});

Deno.test("any name of a VM gives a name of a host", () => {
  assert.deepEqual(["Web", "--a_b--", "é", "a".repeat(80), "10.0"].map(hostNameFrom), [
    ...["web", "a-b", "vm", "a".repeat(63), "10-0"],
  ]);
});

Deno.test("what cloud-init would not take is refused before a VM is made", async () => {
  await withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const write = async (name: string, text: string): Promise<string> => {
      await Deno.writeTextFile(`${folder}/${name}`, text);
      return `${folder}/${name}`;
    };
    const good = await write("good", "#cloud-config\n{}\n");
    const key = await write("key.pub", "# mine\nssh-ed25519 AAAA me\n\nssh-rsa BBBB\n");
    const spec = await readCloudInit(host, { user_data: good, ssh_key: [key] });
    assert.deepEqual(spec?.ssh_keys, ["ssh-ed25519 AAAA me", "ssh-rsa BBBB"]);
    assert.equal(await readCloudInit(host, { ssh_key: [] }), undefined);
    const plain = await write("plain", "users: []\n");
    const failure = await failureOf("hv.usage", () => readCloudInit(host, { user_data: plain, ssh_key: [] }));
    assert.match(failure.message, /names no form/);
    const secret = await write("key", "-----BEGIN OPENSSH PRIVATE KEY-----\nsecretsecret\n");
    const refused = await failureOf("hv.usage", () => readCloudInit(host, { ssh_key: [secret] }));
    assert.doesNotMatch(JSON.stringify(refused.toEnvelope()), /secretsecret/);
    await failureOf("hv.usage", () => readCloudInit(host, { ssh_key: [good] }));
    await failureOf("hv.not_found", () => readCloudInit(host, { ssh_key: [`${folder}/none`] }));
    await failureOf("hv.usage", () => readCloudInit(host, { user_data: folder, ssh_key: [] }));
  });
});
