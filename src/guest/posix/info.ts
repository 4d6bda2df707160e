/** What a POSIX guest says of itself. */

import { HvError } from "../../base/errors.ts";
import type { ProgramRunner } from "../channel.ts";
import type { OwnFacts } from "../inspection.ts";
import script from "./collectors/info.sh" with { type: "text" };
import { collectParts, linesOf, type Parts } from "./parts.ts";

/** Sectors of /sys/block are of this size, whatever the disk's own are. */
const SECTOR_BYTES = 512;
const KIBIBYTE = 1024;

/** Asks once, and reads the answer. */
export async function collectInfo(channel: ProgramRunner, signal: AbortSignal): Promise<OwnFacts> {
  const { parts } = await collectParts(channel, script, "own facts", signal);
  return readInfo(parts);
}

/** Reads the parts that `info.sh` prints. */
export function readInfo(parts: Parts): OwnFacts {
  const [system = "", release = "", architecture = "", hostName = ""] = linesOf(parts, "kernel");
  const [, seconds, fraction] = /^(\d+) (\d{9})?/.exec(parts.get("clock") ?? "") ?? [];
  if (seconds === undefined || release === "") {
    throw new HvError(
      "hv.job_failed",
      "The guest does not say what it is: its date and uname print nothing",
      {
        hint: "Look with a program of its own: `hvlab guest exec VM -- uname -a`",
      },
    );
  }
  const os = readRelease(linesOf(parts, "release"));
  const [bootId = ""] = linesOf(parts, "boot");
  const boot = /^btime (\d+)$/m.exec(parts.get("boot") ?? "")?.[1];
  const cpus = Number(linesOf(parts, "cpus")[0] ?? 0);
  const memory = memoryOf(parts, "MemTotal");
  const available = memoryOf(parts, "MemAvailable");
  const missing = ["addresses", "volumes"].filter((part) => linesOf(parts, part)[0] === "missing");
  return {
    os: os.get("PRETTY_NAME") ?? os.get("NAME") ?? system,
    ...(os.has("VERSION_ID") ? { os_version: os.get("VERSION_ID") ?? "" } : {}),
    kernel: `${system} ${release}`,
    architecture,
    host_name: hostName,
    ...(boot === undefined ? {} : { boot_time: new Date(Number(boot) * 1000).toISOString() }),
    ...(/^[0-9a-f-]{36}$/.test(bootId) ? { boot_id: bootId } : {}),
    ...(cpus > 0 ? { cpus } : {}),
    ...(memory === undefined ? {} : { memory_bytes: memory }),
    ...(available === undefined ? {} : { memory_available_bytes: available }),
    clock_ms: Number(seconds) * 1000 + Number(fraction?.slice(0, 3) ?? 0),
    // The date of busybox may know no more than seconds.
    clock_step_ms: fraction === undefined || fraction === "" ? 1000 : 1,
    nics: readNics(parts),
    disks: linesOf(parts, "disks").flatMap(readDisk),
    volumes: readVolumes(parts),
    ...(missing.length === 0 ? {} : { missing }),
  };
}

/** Lines NAME=VALUE whose values may stand in quotes, as os-release(5) has them. */
function readRelease(lines: readonly string[]): Map<string, string> {
  return new Map(lines.flatMap((line) => {
    const [, name, quoted, plain] = /^([A-Z_]+)=(?:"(.*)"|'?([^']*)'?)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, (quoted ?? plain ?? "").replace(/\\(.)/g, "$1")] as const];
  }));
}

function memoryOf(parts: Parts, name: string): number | undefined {
  const kibibytes = new RegExp(`^${name}: *(\\d+) kB$`, "m").exec(parts.get("memory") ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * KIBIBYTE;
}

function readNics(parts: Parts): OwnFacts["nics"] {
  const addresses = new Map<string, string[]>();
  for (const line of linesOf(parts, "addresses")) {
    const [, card, address] = /^\d+: ([^\s@]+)\S* +inet6? (\S+)/.exec(line) ?? [];
    if (card !== undefined && address !== undefined) {
      addresses.set(card, [...addresses.get(card) ?? [], address]);
    }
  }
  return linesOf(parts, "cards").map((line) => {
    const [name = "", mac = ""] = line.split(" ");
    return { name, ...(mac === "" ? {} : { mac }), addresses: addresses.get(name) ?? [] };
  });
}

function readDisk(line: string): OwnFacts["disks"] {
  const [, name, sectors, fixed, model] = /^(\S+) (\d+) ([01]) ?(.*)$/.exec(line) ?? [];
  if (name === undefined || Number(sectors) === 0) return [];
  return [{
    name,
    ...(model === undefined || model.trim() === "" ? {} : { model: model.trim() }),
    size_bytes: Number(sectors) * SECTOR_BYTES,
    ...(fixed === "1" ? { read_only: true } : {}),
  }];
}

/** `df` tells the sizes, and the table of mounts what lies there; file systems without a size are the kernel's own. */
function readVolumes(parts: Parts): OwnFacts["volumes"] {
  const kinds = new Map(
    linesOf(parts, "mounts").map((line) => {
      const [, path = "", kind = ""] = line.split(" ");
      return [path.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8))), kind];
    }),
  );
  return linesOf(parts, "volumes").slice(1).flatMap((line) => {
    const [, device, size, free, path] = /^(.*?) +(\d+) +-?\d+ +(-?\d+) +\S+ +(\/.*)$/.exec(line) ?? [];
    if (path === undefined || device === undefined || Number(size) === 0) return [];
    const kind = kinds.get(path);
    return [{
      path,
      device,
      ...(kind === undefined ? {} : { file_system: kind }),
      size_bytes: Number(size) * KIBIBYTE,
      free_bytes: Math.max(0, Number(free)) * KIBIBYTE,
    }];
  });
}
