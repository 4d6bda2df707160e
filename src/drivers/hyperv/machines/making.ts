/** Making a VM: whole or not at all. */

import { startDeadline } from "../../../base/deadline.ts";
import { HvError, toHvError } from "../../../base/errors.ts";
import type { Firmware } from "../../../contract/vm.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { VmSpec } from "../../driver.ts";
import type { HyperV } from "../client.ts";
import { diskOf, getImage } from "../disks/images.ts";
import { refuseTakenName, takeNames } from "./names.ts";
import type { MachineFacts } from "../map.ts";
import { fullPath } from "../paths.ts";
import type { Birth, MachineParts } from "./parts.ts";
import { type Tag, writeTag } from "./tag.ts";

const BYTES_PER_MIB = 1024 * 1024;
/** Taking back has a budget of its own: the call's may be used up. */
const TAKE_BACK_LIMIT_MS = 30_000;
/** Hyper-V gives memory in steps of 2 MiB, and no machine less than 32. */
const MEMORY_STEP_MB = 2;
const LEAST_MEMORY_MB = 32;

/** Makes a VM that is off and answers its id. What a failure has made by then is taken back before the answer. */
export async function makeVm(
  hyperv: HyperV,
  state: StateFolder,
  spec: VmSpec,
  scope: CallScope,
  mark: Pick<Tag, "sandbox"> = {},
  key = newKey(),
): Promise<string> {
  const { image, ...rest } = spec;
  refuseUnfit(spec);
  const base = image === undefined ? undefined : diskOf(await getImage(hyperv, state, image));
  const parts = await partsOf(hyperv, base === undefined ? rest : { ...rest, parent_disk: base });
  using _names = await takeNames(hyperv, state, scope.signal);
  await refuseTakenName(hyperv, spec.name, scope.signal);
  return await bringIntoBeing(
    hyperv,
    { ...mark, ...(image === undefined ? {} : { image }) },
    (birth) => hyperv.makeMachine({ ...parts, ...birth }, scope),
    key,
  );
}

/** A name for a VM's folder, and for the VM itself while it is made. */
export function newKey(): string {
  return `hvlab-${crypto.randomUUID()}`;
}

/**
 * Makes a VM with one operation and answers its id. What a failure has made by then is taken back before the answer.
 */
export async function bringIntoBeing(
  hyperv: HyperV,
  mark: Pick<Tag, "image" | "sandbox">,
  make: (birth: Birth) => Promise<MachineFacts>,
  passing = newKey(),
): Promise<string> {
  const created_at = new Date(hyperv.host.clock.now()).toISOString();
  const tag = { key: passing, created_at, ...mark };
  const notes = writeTag({ ...tag, making: true });
  const final_notes = writeTag({ ...tag, making: false });
  try {
    return `vm-${(await make({ passing, notes, final_notes })).id}`;
  } catch (error) {
    throw await takeBack(hyperv, passing, toHvError(error));
  }
}

async function partsOf({ host }: HyperV, spec: VmSpec): Promise<Omit<MachineParts, keyof Birth>> {
  const full = async (path: string | undefined): Promise<string | null> =>
    path === undefined ? null : await fullPath(host, path);
  return {
    name: spec.name,
    generation: generationOf(spec),
    secure_boot: secureBootOf(spec.firmware),
    memory_bytes: spec.memory_mb * BYTES_PER_MIB,
    cpus: spec.cpus,
    disk_bytes: spec.disk_size_mb === undefined ? null : spec.disk_size_mb * BYTES_PER_MIB,
    disk: await full(spec.disk),
    parent_disk: await full(spec.parent_disk),
    iso: await full(spec.iso),
    switch: spec.switch ?? null,
    network: spec.network ?? true,
    tpm: spec.tpm ?? false,
  };
}

/** A disk of the older format boots in generation 1 only, so that it decides where nothing else does. */
function generationOf({ generation, firmware, disk, parent_disk }: VmSpec): 1 | 2 {
  if (generation !== undefined || firmware !== undefined) {
    return generation === 1 || firmware === "bios" ? 1 : 2;
  }
  return /\.vhd$/i.test(disk ?? parent_disk ?? "") ? 1 : 2;
}

/** `null` leaves it as Hyper-V makes it: on, with the template for Windows. */
function secureBootOf(firmware: Firmware | undefined): boolean | null {
  if (firmware === undefined || firmware === "bios") return null;
  return firmware === "uefi_secure";
}

/** Takes back what the call has made, and says what is left of it. */
async function takeBack(hyperv: HyperV, passing: string, failure: HvError): Promise<HvError> {
  using limit = startDeadline(hyperv.host.clock, TAKE_BACK_LIMIT_MS);
  try {
    const left = await hyperv.takeBack(passing, limit);
    if (left.length > 0) return failure.withContext({ left_over: left, key: passing });
    if (failure.code !== "hv.outcome_unknown") return failure.withContext({ left_over: [] });
    return new HvError(
      "hv.unavailable",
      "The sidecar ended while the VM was made; what there was is gone again",
      {
        hint: "Try again",
        context: { ...failure.context, left_over: [] },
        cause: failure,
      },
    );
  } catch (error) {
    return failure.withContext({ left_over: "unknown", key: passing, take_back: toHvError(error).message });
  }
}

function refuseUnfit(spec: VmSpec): void {
  const refuse = (code: "hv.usage" | "hv.unsupported", message: string, hint: string): never => {
    throw new HvError(code, message, { hint, context: { name: spec.name, driver: "hyperv" } });
  };
  if (spec.full_copy === true) {
    refuse("hv.unsupported", "On Hyper-V a VM leans on its image", "Copy the disk yourself and give --disk");
  }
  if (spec.kernel !== undefined) {
    refuse("hv.unsupported", "Hyper-V starts no kernel file", "Give it a disk that boots");
  }
  if (spec.tpm && (spec.generation === 1 || spec.firmware === "bios")) {
    refuse("hv.unsupported", "A TPM needs generation 2", "Leave --tpm out, or give --generation 2");
  }
  const disks = [spec.image, spec.disk_size_mb, spec.disk, spec.parent_disk].filter((disk) =>
    disk !== undefined
  );
  if (disks.length > 1) {
    refuse(
      "hv.usage",
      "A VM starts with one disk",
      "Give one of --image, --disk-size, --disk and --parent-disk",
    );
  }
  if (disks.length === 0 && spec.iso === undefined) {
    refuse(
      "hv.usage",
      "A VM needs something to start from",
      "Give --image, --disk-size, --disk, --parent-disk or --iso",
    );
  }
  if (spec.switch !== undefined && spec.network === false) {
    refuse("hv.usage", "A VM without a network is on no switch", "Leave --switch or --no-network out");
  }
  if (spec.memory_mb % MEMORY_STEP_MB !== 0 || spec.memory_mb < LEAST_MEMORY_MB) {
    refuse(
      "hv.usage",
      `Hyper-V gives no VM ${spec.memory_mb} MiB: wanted an even number from ${LEAST_MEMORY_MB}`,
      "Change --memory",
    );
  }
}
