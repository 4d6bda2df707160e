/** Virtual disks on Hyper-V. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { uuidOf } from "../../../base/ids.ts";
import { nameOf } from "../../../base/paths.ts";
import { ChainFault, type Disk, type DiskLayer, diskSize, DiskType } from "../../../contract/disk.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { Chain, ConversionWish, DiskAbilities, DiskSpec } from "../../disk_abilities.ts";
import type { HyperV } from "../client.ts";
import { fullNewPath, fullPath } from "../paths.ts";
import { DiskFileFacts, diskOf } from "./disk_facts.ts";
import { lossesOfMerge, mergeDisk } from "./merges.ts";

const Answer = z.object({ disk: DiskFileFacts });
const Layers = z.object({
  layers: z.array(z.object({
    path: z.string(),
    format: z.nullable(z.string()),
    type: z.nullable(z.string()),
    size: z.nullable(z.string()),
    file_size: z.nullable(z.string()),
  })),
  broken: z.nullable(z.object({ fault: ChainFault, message: z.string(), at: z.int() })),
});
const Checked = z.object({
  disk: DiskFileFacts,
  broken: z.nullable(z.object({ fault: ChainFault, message: z.string() })),
});
const Removal = z.object({ path: z.string(), removed: z.boolean() });
const Drives = z.object({
  drives: z.array(z.object({ path: z.string(), device: z.string() })),
  runs: z.boolean(),
});
const Place = z.object({ path: z.string() });

/** Hyper-V tells a disk's format by its name's ending and knows no others. */
const FORMATS: ReadonlyMap<string, "vhdx" | "vhd"> = new Map([
  ["vhdx", "vhdx"],
  ["avhdx", "vhdx"],
  ["vhd", "vhd"],
  ["avhd", "vhd"],
]);

/** The disks of this host. */
export function openDisks(hyperv: HyperV, state: StateFolder): DiskAbilities {
  const full = (path: string): Promise<string> => fullPath(hyperv.host, path);
  return {
    async info(path, signal) {
      const { disk } = await hyperv.ask(Answer, "disk_facts", { path: await full(path) }, { signal });
      return diskOf(disk);
    },
    async chain(path, signal) {
      const answer = await hyperv.ask(Layers, "disk_layers", { path: await full(path) }, { signal });
      return chainOf(path, answer);
    },
    async check(path, scope) {
      const { disk, broken } = await hyperv.ask(Checked, "check_disk", { path: await full(path) }, scope);
      const { format } = diskOf(disk);
      const problems = broken === null ? [] : [problemOf(broken)];
      const sound = broken === null;
      return { path: disk.path, format, sound, checked: "headers", corruptions: 0, leaks: 0, problems };
    },
    create: (spec, scope) => createDisk(hyperv, spec, scope),
    async resize(path, sizeBytes, scope) {
      const args = { path: await full(path), size: String(sizeBytes) };
      return diskOf((await hyperv.ask(Answer, "resize_disk", args, scope)).disk);
    },
    convert: (path, wish, scope) => convertDisk(hyperv, path, wish, scope),
    async compact(path, scope) {
      return diskOf((await hyperv.ask(Answer, "compact_disk", { path: await full(path) }, scope)).disk);
    },
    mergeLosses: async (path, _follows, signal) => lossesOfMerge(hyperv, state, await full(path), signal),
    merge: async (path, _follows, scope) => mergeDisk(hyperv, state, await full(path), scope),
    async losses(path, signal) {
      const { disk } = await hyperv.ask(Answer, "removal_facts", { path: await full(path) }, { signal });
      return [{ what: "disk", path: disk.path, size_bytes: Number(disk.file_size) }];
    },
    remove: async (path, scope) =>
      await hyperv.ask(Removal, "remove_disk", { path: await full(path) }, scope),
    async attached(vm, signal) {
      const { drives, runs } = await hyperv.ask(Drives, "attached_disks", { vm: uuidOf(vm) }, { signal });
      return drives.map(({ path, device }) => ({
        path,
        format: formatOfName(path) ?? null,
        read_only: false,
        attached: runs,
        at_next_start: true,
        device,
      }));
    },
    async attach(vm, path, wish, scope) {
      if (wish.read_only) {
        throw new HvError("hv.unsupported", "Hyper-V attaches no virtual disk read-only", {
          hint: "Leave --read-only out, or make a differencing disk over it",
          context: { path },
        });
      }
      return (await hyperv.ask(Place, "attach_disk", { vm: uuidOf(vm), path: await full(path) }, scope)).path;
    },
    async detach(vm, path, scope) {
      return (await hyperv.ask(Place, "detach_disk", { vm: uuidOf(vm), path: await full(path) }, scope)).path;
    },
  };
}

async function createDisk(hyperv: HyperV, spec: DiskSpec, scope: CallScope): Promise<Disk> {
  const { type, size_bytes: size, parent, overwrite } = spec;
  const path = await fullNewPath(hyperv.host, spec.path);
  needFormat(path, spec.format);
  if (type === "differencing" && parent === undefined) {
    throw usage("A differencing disk needs a parent", "Give --parent FILE");
  }
  if (type !== "differencing" && parent !== undefined) {
    throw usage(`A ${type} disk leans on nothing`, "Leave --parent out");
  }
  if (parent === undefined && size === undefined) {
    throw usage("A new disk needs a size", "Give --size, such as --size 10G");
  }
  if (parent !== undefined && size !== undefined) {
    throw usage(
      "Hyper-V gives a differencing disk its parent's size",
      "Leave --size out, and resize it later",
    );
  }
  const { disk } = await hyperv.ask(Answer, "make_disk", {
    path,
    type,
    size: size === undefined ? null : String(size),
    parent: parent === undefined ? null : await fullPath(hyperv.host, parent),
    overwrite: overwrite ?? false,
  }, scope);
  return diskOf(disk);
}

async function convertDisk(
  hyperv: HyperV,
  path: string,
  { target, format, type, overwrite }: ConversionWish,
  scope: CallScope,
): Promise<Disk> {
  const place = await fullNewPath(hyperv.host, target);
  needFormat(place, format);
  const args = {
    path: await fullPath(hyperv.host, path),
    target: place,
    type,
    overwrite: overwrite ?? false,
  };
  return diskOf((await hyperv.ask(Answer, "convert_disk", args, scope)).disk);
}

function needFormat(path: string, wanted: string | undefined): void {
  const found = formatOfName(path);
  if (found !== undefined && (wanted === undefined || wanted === found)) return;
  throw new HvError(
    "hv.unsupported",
    wanted === undefined || found === undefined
      ? `Hyper-V makes no disk named "${nameOf(path)}"`
      : `"${nameOf(path)}" names a ${found}, and a ${wanted} was asked for`,
    { hint: "Name it with .vhdx or .vhd; the ending is its format", context: { path } },
  );
}

function formatOfName(path: string): "vhdx" | "vhd" | undefined {
  return FORMATS.get(/\.([A-Za-z]+)$/.exec(nameOf(path))?.[1]?.toLowerCase() ?? "");
}

function chainOf(path: string, { layers: found, broken }: z.infer<typeof Layers>): Chain {
  const layers = found.map((layer, depth): DiskLayer => ({
    path: layer.path,
    format: layer.format,
    type: layer.type === null ? null : z.safeParse(DiskType, layer.type).data ?? null,
    size_bytes: layer.size === null ? null : diskSize(BigInt(layer.size)),
    file_bytes: layer.file_size === null ? null : Number(layer.file_size),
    ...(broken?.at === depth ? { fault: broken.fault, problem: problemOf(broken) } : {}),
  }));
  return {
    path: layers[0]?.path ?? path,
    layers,
    ...(broken === null
      ? {}
      : { broken: { fault: broken.fault, layer: broken.at, problem: problemOf(broken) } }),
  };
}

/** Hyper-V's own texts are localised, and most of them name only what was being done. */
function problemOf({ fault, message }: { fault: ChainFault; message: string }): string {
  switch (fault) {
    case "missing":
      return "There is no such disk";
    case "mismatched":
      return "It is another disk than the one that its child was made for";
    case "looped":
      return "It is in this chain already";
    default:
      return message;
  }
}

function usage(message: string, hint: string): HvError {
  return new HvError("hv.usage", message, { hint });
}
