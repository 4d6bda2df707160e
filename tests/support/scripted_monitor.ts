/** QEMU's monitor as a test wants it: answers by command name, and what was asked. */

import { isPlainObject, parseJson } from "../../src/base/json.ts";
import type { ScriptedHost } from "./scripted_host.ts";

export interface MonitorScript {
  uuid: string;
  /** What `query-status` names; `running` when left out. */
  status?: string;
  kvm?: boolean;
  /** Whether it greets; a monitor that has a client already does not. */
  silent?: boolean;
  /** More answers by command; `null` hangs up instead, a function is asked with the command's arguments. */
  answers?: Record<string, unknown>;
}

/** Lets a monitor listen at the path. Answers the list into which the names of commands go as they come. */
export async function listenAsMonitor(
  host: ScriptedHost,
  path: string,
  { uuid, status = "running", kvm = false, silent = false, answers = {} }: MonitorScript,
): Promise<string[]> {
  const asked: string[] = [];
  const known: Record<string, unknown> = {
    "qmp_capabilities": {},
    "query-uuid": { UUID: uuid },
    "query-status": { status, running: status === "running", singlestep: false },
    "query-kvm": { enabled: kvm, present: true },
    ...answers,
  };
  const greeting = JSON.stringify({
    QMP: { version: { qemu: { major: 7, minor: 2, micro: 22 } }, capabilities: ["oob"] },
  });
  await host.sockets.listen(path, (line, answer, hangUp) => {
    const request = parseJson(line);
    if (silent || !isPlainObject(request)) return;
    const { execute: name, id } = request;
    if (typeof name !== "string") return;
    asked.push(name);
    const kept = known[name];
    const found: unknown = typeof kept === "function" ? kept(request.arguments) : kept;
    if (found === null) return hangUp();
    if (found === undefined) {
      const desc = `The command ${name} has not been found`;
      return answer(JSON.stringify({ id, error: { class: "CommandNotFound", desc } }));
    }
    answer(JSON.stringify({ return: found, id }));
  }, silent ? undefined : greeting);
  return asked;
}
