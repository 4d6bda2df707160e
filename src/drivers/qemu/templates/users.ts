/** Which VMs need a template: those that run on its memory, and those whose disk hangs on its disk. */

import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import { damagedVms } from "../damaged_vms.ts";
import { ProcessView } from "../identity.ts";
import { observe } from "../observe.ts";
import { OVERLAY_FILE } from "../overlay.ts";
import { type RecordListing, type VmRecord, VmRecords } from "../records.ts";

/** One look at all records and processes, made when first asked for. */
export class VmsOfTemplates {
  readonly #context: QemuContext;
  readonly #processes: ProcessView;
  #listing: Promise<RecordListing> | undefined;

  constructor(context: QemuContext) {
    this.#context = context;
    this.#processes = new ProcessView(context);
  }

  /** The VMs that name the template in their records, whatever their state. */
  async named(image: string, fingerprint: string): Promise<VmRecord[]> {
    const { records } = await this.#records();
    return records.filter((record) => record.image === image && record.template?.fingerprint === fingerprint);
  }

  /** Whether some VM's record cannot be read: that VM may need any template. */
  async hasDamaged(): Promise<boolean> {
    return damagedVms(await this.#records()).length > 0;
  }

  /** Whether a VM would miss the template. One that cannot be seen counts as running. */
  async needs(record: VmRecord, signal: AbortSignal): Promise<boolean> {
    const overlay = joinPath(this.#context.state.vm(record.id), OVERLAY_FILE);
    if (await this.#context.host.files.stat(overlay) !== undefined) return true;
    return (await observe(this.#context, record, signal, this.#processes)).alive;
  }

  /** Processes that have mapped a file in the folder, records or not. */
  async processesIn(folder: string): Promise<number[]> {
    const mark = `${folder}/`.replaceAll(",", ",,");
    return (await this.#processes.all()).filter(({ args }) => args.includes(mark)).map(({ pid }) => pid);
  }

  #records(): Promise<RecordListing> {
    return this.#listing ??= new VmRecords(this.#context).list();
  }
}

/** Whether any VM needs the template, or may need it. */
export async function isHeld(
  vms: VmsOfTemplates,
  image: string,
  fingerprint: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (await vms.hasDamaged()) return true;
  for (const record of await vms.named(image, fingerprint)) {
    if (await vms.needs(record, signal)) return true;
  }
  return false;
}
