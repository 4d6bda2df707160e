/** Which way into guests of an image answered when a better one did not. Only that is remembered. */

import { isPlainObject, parseJson } from "../../base/json.ts";
import { folderOf } from "../../base/paths.ts";
import type { Vm } from "../../contract/vm.ts";
import type { ChannelName } from "../../guest/channel.ts";
import type { Host } from "../../host/host.ts";
import type { StateFolder } from "../../state/layout.ts";

const NAMES: readonly ChannelName[] = ["agent", "ssh", "psdirect"];

/** The way that answered; `undefined` while the best one does. A file that cannot be read is no evidence. */
export async function readEvidence(host: Host, state: StateFolder, vm: Vm): Promise<ChannelName | undefined> {
  const name = (await readAll(host, state))[subjectOf(vm)];
  return NAMES.find((known) => known === name);
}

/** Remembers the way that answered, or with `undefined` that the best one does again. Nothing hangs on it. */
export async function writeEvidence(
  host: Host,
  state: StateFolder,
  vm: Vm,
  answered: ChannelName | undefined,
): Promise<void> {
  const { [subjectOf(vm)]: _, ...others } = await readAll(host, state);
  const all = answered === undefined ? others : { ...others, [subjectOf(vm)]: answered };
  try {
    await host.files.makeFolder(folderOf(state.guestChannels));
    await host.files.writeAtomically(state.guestChannels, JSON.stringify(all));
  } catch {
    return;
  }
}

async function readAll({ files }: Host, state: StateFolder): Promise<Record<string, unknown>> {
  try {
    const value = parseJson(await files.readTextIfPresent(state.guestChannels) ?? "{}");
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Guests of one image are alike; a VM without an image stands for itself. */
function subjectOf({ image, id }: Vm): string {
  return image === undefined ? id : `image ${image}`;
}
