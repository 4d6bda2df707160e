/** SSH into the guests of QEMU: over a forward of a port of this host, introduced by the guest agent. */

import { HvError } from "../../base/errors.ts";
import { uuidOf } from "../../base/ids.ts";
import { joinPath } from "../../base/paths.ts";
import type { Vm } from "../../contract/vm.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { readSecret } from "../../guest/credentials.ts";
import type { GuestFolder } from "../../guest/guest_folder.ts";
import type { GuestLogin } from "../../guest/login.ts";
import { openSshChannel } from "../../guest/ssh/channel.ts";
import type { QemuContext } from "./context.ts";
import { reachPort } from "./network/reach.ts";
import type { VmRecords } from "./records.ts";

const SSH_PORT = 22;
/** Whom a key is put in for when nobody is named. */
const USUAL_USER = "root";

/** The path of a guest's folder on this host: keys, pinned host keys, a stored login. It goes with the VM. */
export function guestFolder({ state }: Pick<QemuContext, "state">, id: string): string {
  return joinPath(state.vm(id), "guest");
}

/** The same folder, for who writes into it. */
export function openGuestFolder(context: Pick<QemuContext, "host" | "state">, id: string): GuestFolder {
  const path = guestFolder(context, id);
  return {
    path,
    async make() {
      try {
        await context.host.files.makeFolder(path, { parents: false });
      } catch (error) {
        throw error instanceof HvError && error.code === "hv.not_found" ? isRemoved(id) : error;
      }
    },
  };
}

function isRemoved(id: string): HvError {
  return new HvError("hv.not_found", `The VM "${id}" has been removed`, {
    hint: "List those that are there with: hvlab vm list",
    context: { vm: id },
  });
}

/** The SSH channels of one driver; those to one guest for one user share their connections. */
export class SshWays {
  readonly #context: QemuContext;
  readonly #records: VmRecords;
  readonly #open = new Map<string, GuestChannel & AsyncDisposable>();

  constructor(context: QemuContext, records: VmRecords) {
    this.#context = context;
    this.#records = records;
  }

  /** Opens a channel; nothing is connected before it is used. */
  channel(vm: Vm, login: GuestLogin = { user: USUAL_USER }, sponsor: GuestChannel | undefined): GuestChannel {
    const key = JSON.stringify([vm.id, vm.pid ?? 0, login]);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const { host } = this.#context;
    const folder = openGuestFolder(this.#context, vm.id);
    const channel = openSshChannel({
      host,
      reach: (signal) => reachPort(this.#context, this.#records, vm.id, SSH_PORT, signal),
      folder: joinPath(folder.path, "ssh"),
      alias: uuidOf(vm.id),
      login,
      password: () => readSecret({ host, folder, key: vm.id }, login),
      ...(sponsor === undefined ? {} : { sponsor }),
    });
    this.#open.set(key, channel);
    return channel;
  }

  /** Ends the connections to one VM, or to all. */
  async close(id?: string): Promise<void> {
    const doomed = [...this.#open].filter(([key]) => id === undefined || key.startsWith(`["${id}"`));
    for (const [key] of doomed) this.#open.delete(key);
    await Promise.all(doomed.map(([, channel]) => channel[Symbol.asyncDispose]()));
  }
}
