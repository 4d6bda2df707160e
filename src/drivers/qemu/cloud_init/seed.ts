/** The disk from which cloud-init in a guest learns what to do at its first boot (its data source NoCloud). */

import { uuidOf } from "../../../base/ids.ts";
import { joinPath } from "../../../base/paths.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { Files } from "../../../host/files.ts";
import type { CloudInitSpec } from "../../cloud_init.ts";
import { type DiscFile, writeDisc } from "./iso9660.ts";

/** The seed's file in a VM's folder; it goes with the VM. */
export const SEED_FILE = "seed.iso";
/** By this label cloud-init finds it. */
const LABEL = "CIDATA";
const LABEL_BYTES = 63;

/** What the seed says beside what the user gave. */
export interface SeedFacts {
  id: string;
  name: string;
  /** Whether the VM has a network card. */
  network: boolean;
}

/** Writes the seed. Only we may read it: what a user gives cloud-init may hold secrets. */
export async function writeSeed(
  files: Files,
  folder: string,
  spec: CloudInitSpec,
  facts: SeedFacts,
): Promise<void> {
  using writer = await files.create(joinPath(folder, SEED_FILE), { mode: 0o600 });
  await writer.write(writeDisc(LABEL, seedFiles(spec, facts)));
  await writer.sync();
}

/** The files of the seed. What hvlab adds is JSON, which is YAML too. */
export function seedFiles(
  { user_data, ssh_keys, host_name }: CloudInitSpec,
  { id, name, network }: SeedFacts,
): DiscFile[] {
  const metaData = {
    // Another one makes cloud-init begin anew.
    "instance-id": uuidOf(id),
    "local-hostname": host_name ?? hostNameFrom(name),
    ...(ssh_keys.length === 0 ? {} : { "public-keys": [...ssh_keys] }),
  };
  return [
    { name: "meta-data", content: json(metaData) },
    { name: "user-data", content: user_data ?? encode("#cloud-config\n{}\n") },
    { name: "network-config", content: json(network ? ALL_BY_DHCP : NO_NETWORK) },
    // Comes before what the user says, who may want another one. Many images lack the programs that make a locale.
    { name: "vendor-data", content: encode('#cloud-config\n{"locale": false}\n') },
  ];
}

const ALL_BY_DHCP: JsonObject = {
  version: 2,
  ethernets: { cards: { match: { name: "e*" }, dhcp4: true } },
};
const NO_NETWORK: JsonObject = { version: 2, ethernets: {} };

/** A VM's name as the name of a host: letters, digits and dashes, at most 63. */
export function hostNameFrom(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "").slice(0, LABEL_BYTES)
    .replace(/-+$/, "");
  return plain === "" ? "vm" : plain;
}

function json(value: JsonObject): Uint8Array {
  return encode(`${JSON.stringify(value)}\n`);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
