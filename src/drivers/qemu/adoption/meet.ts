/** What a foreign QEMU says of itself over its monitor. */

import { HvError } from "../../../base/errors.ts";
import { parseVmId } from "../../../base/ids.ts";
import { isPlainObject, type JsonValue } from "../../../base/json.ts";
import { isAbsolutePath } from "../../../base/paths.ts";
import { AGENT_PORT } from "../launch/argv.ts";
import { numberIn, objectsIn, textIn } from "../monitor/answers.ts";
import type { QemuContext } from "../context.ts";
import { QmpSession } from "../monitor/qmp.ts";

/** A machine that answered. */
export interface ForeignMachine {
  /** `vm-<uuid>` of the uuid that it was started with. */
  id: string;
  /** The name that it was started with. */
  name: string | undefined;
  machine: string;
  memory_mb: number;
  cpus: number;
  /** The socket of its guest agent's port. */
  agent: string | undefined;
}

const MIB = 1024 * 1024;
/** What QEMU gives as its uuid when nobody gave it one. */
const NO_ID = "vm-00000000-0000-0000-0000-000000000000";
const DEVICE_FOLDERS = ["/machine/peripheral", "/machine/peripheral-anon"] as const;

/**
 * Asks the QEMU behind a monitor's socket who it is. Throws `hv.unavailable` when nobody listens, `hv.conflict` when the
 * monitor serves somebody else, `hv.unsupported` when the machine has no uuid to be known by.
 */
export async function meetMachine(
  { host }: QemuContext,
  socket: string,
  signal: AbortSignal,
): Promise<ForeignMachine> {
  const connection = await host.sockets.connectUnix(socket);
  if (connection === undefined) {
    throw new HvError("hv.unavailable", `No QEMU listens at "${socket}"`, {
      hint: "Name the socket of a monitor: -qmp unix:PATH,server=on,wait=off",
      context: { path: socket },
      retryable: false,
    });
  }
  using session = await openSession(connection, socket, { host }, signal);
  try {
    return await readMachine(session, socket, signal);
  } finally {
    session.close();
    await session.ended;
  }
}

async function openSession(
  connection: Parameters<typeof QmpSession.open>[0],
  socket: string,
  { host }: Pick<QemuContext, "host">,
  signal: AbortSignal,
): Promise<QmpSession> {
  try {
    return await QmpSession.open(connection, host.clock, { signal });
  } catch (error) {
    if (!(error instanceof HvError) || error.code !== "hv.conflict") throw error;
    throw new HvError("hv.conflict", `The monitor at "${socket}" does not answer`, {
      hint:
        "It serves one client at a time: give QEMU a second one for hvlab, and check that it speaks QMP (-qmp)",
      context: { ...error.context, path: socket },
      retryable: true,
      cause: error,
    });
  }
}

async function readMachine(
  session: QmpSession,
  socket: string,
  signal: AbortSignal,
): Promise<ForeignMachine> {
  const ask = (command: string): Promise<JsonValue> => session.command(command, undefined, { signal });
  const [uuid, name, memory, cpus, type, agent] = await Promise.all([
    ask("query-uuid"),
    ask("query-name"),
    ask("query-memory-size-summary"),
    ask("query-cpus-fast"),
    session.command("qom-get", { path: "/machine", property: "type" }, { signal }),
    findAgent(session, signal),
  ]);
  const id = parseVmId(textIn(uuid, "UUID") ?? "");
  if (id === undefined || id === NO_ID) {
    throw new HvError(
      "hv.unsupported",
      `The QEMU at "${socket}" has no uuid, so it could not be told from others`,
      {
        hint: "Start it with -uuid, for example: -uuid $(uuidgen)",
        context: { path: socket },
      },
    );
  }
  return {
    id,
    name: textIn(name, "name"),
    machine: String(type).replace(/-machine$/, ""),
    memory_mb: Math.max(1, Math.round(numberIn(memory, "base-memory") / MIB)),
    cpus: Math.max(1, objectsIn(cpus).length),
    agent,
  };
}

/** The socket behind the port that guest agents use, where the machine has such a port on a listening unix socket. */
async function findAgent(session: QmpSession, signal: AbortSignal): Promise<string | undefined> {
  const read = (path: string, property: string): Promise<JsonValue> =>
    session.command("qom-get", { path, property }, { signal });
  for (const folder of DEVICE_FOLDERS) {
    for (const entry of objectsIn(await session.command("qom-list", { path: folder }, { signal }))) {
      if (textIn(entry, "type") !== "child<virtserialport>") continue;
      const path = `${folder}/${textIn(entry, "name") ?? ""}`;
      if (await read(path, "name") !== AGENT_PORT) continue;
      return await socketOf(session, String(await read(path, "chardev")), signal);
    }
  }
  return undefined;
}

/** QEMU shows it as `unix:/run/agent,server=on`, with `disconnected:` before it while nobody is connected. */
async function socketOf(
  session: QmpSession,
  label: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const devices = objectsIn(await session.command("query-chardev", undefined, { signal }));
  const device = devices.find((candidate) => isPlainObject(candidate) && candidate.label === label);
  const path = /^(?:disconnected:)?unix:(.+),server(?:=on)?$/.exec(textIn(device, "filename") ?? "")?.[1];
  return path !== undefined && isAbsolutePath(path) ? path : undefined;
}
