/** Starting a machine from a template: its RAM is mapped privately, its device state fed, its guest woken. */

import { joinPath } from "../../../base/paths.ts";
import { waitForAll } from "../../../base/wait_for_all.ts";
import type { CallScope } from "../../call_scope.ts";
import type { AgentLink } from "../agent/link.ts";
import type { Boot } from "../launch/machine_plan.ts";
import type { QemuContext } from "../context.ts";
import type { Making } from "../creation.ts";
import { imageOf, kernelBoot } from "../images/images.ts";
import { powerOn } from "../power/instance.ts";
import { OVERLAY_FILE } from "../overlay.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import type { RuntimeFolder } from "../runtime_folder.ts";
import { loadDeviceState } from "./device_state.ts";
import { STUB_FILE, type Template, templateFile } from "./record.ts";
import { sleeperOf, wakeGuest } from "./wake.ts";
import { openWakingLink, type WakingPhase } from "./waking_link.ts";

export interface CloneOptions {
  tiedToUs: boolean;
  /** Leaves the guest without time and randomness of its own, for a pool: it is woken when it is claimed. */
  asleep?: boolean;
}

/** What a VM's record and disk take from a template. */
export function basisOf(template: Template): NonNullable<Making["template"]> {
  const { fingerprint, files } = template.record;
  const disk = files.some(({ role }) => role === "disk")
    ? { disk: { path: templateFile(template, "disk"), format: "qcow2" } }
    : {};
  return { fingerprint, ...disk };
}

/**
 * Starts the machine of a record that names the template, and returns when its guest runs, knows the time and has
 * randomness of its own. The caller holds the VM's lock. A machine that does not start is off again; one whose guest
 * is not woken runs, and the caller takes it away.
 */
export async function startClone(
  context: QemuContext,
  records: VmRecords,
  record: VmRecord,
  template: Template,
  options: CloneOptions,
  scope: CallScope,
): Promise<void> {
  const { host } = context;
  const { asleep = false, tiedToUs } = options;
  const waking = new AbortController();
  const [state, boot] = await waitForAll([
    readState(context, template),
    bootOf(context, record, template, tiedToUs),
  ]);
  let woken: Promise<void> | undefined;
  let phase: WakingPhase = "starting";
  const wake = (runtime: RuntimeFolder): void => {
    const link = openWakingLink(context, { ...record, runtime: runtime.path }, () => phase);
    const signal = AbortSignal.any([scope.signal, waking.signal]);
    woken = wakeOrLull(link, context, template, tiedToUs, signal).finally(() => {
      if (signal.aborted) link.close();
    });
    woken.catch(() => {});
  };
  await powerOn(context, records, record, scope, tiedToUs, {
    plan: {
      ramFile: { path: templateFile(template, "ram"), shared: false },
      incoming: true,
      boot,
    },
    prepare: async (session, runtime, signal) => {
      // The agent's port must be connected as it was in the template, else its agent takes a pause of 100 ms.
      if (!asleep) wake(runtime);
      await loadDeviceState(host, session, runtime, state, signal);
    },
    giveUp: async () => {
      waking.abort();
      await woken?.catch(() => {});
    },
  });
  phase = "waking";
  await woken;
  phase = "awake";
}

/**
 * A sandbox that ends with this process is used by it alone, so its guest may sleep until its first program wakes it.
 * Others must be awake when they are handed over: the next who uses them does not know where they come from.
 */
async function wakeOrLull(
  link: AgentLink,
  { host: { clock } }: QemuContext,
  { record: { waking } }: Template,
  tiedToUs: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (!tiedToUs || waking.kind !== "waker") return await wakeGuest(link, clock, waking, signal);
  await link.connect(signal, Infinity);
  link.lull(sleeperOf(link, clock, waking));
}

/** A few hundred KiB. */
function readState({ host }: QemuContext, template: Template): Uint8Array {
  using file = host.files.open(templateFile(template, "state"));
  return file.read(0, file.size);
}

/** A machine that ends with one run never boots again, so nothing need be there to boot from. */
async function bootOf(
  context: QemuContext,
  record: VmRecord,
  template: Template,
  tiedToUs: boolean,
): Promise<Boot> {
  const image = await imageOf(context, record);
  if (image.kind === "disk") {
    return { kind: "disk", path: joinPath(context.state.vm(record.id), OVERLAY_FILE), format: "qcow2" };
  }
  if (tiedToUs) return { kind: "kernel", kernel: joinPath(template.folder, STUB_FILE) };
  return kernelBoot(image, { fast: true });
}
