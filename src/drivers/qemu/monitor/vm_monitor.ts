/** A living VM's monitor while its checkpoints are worked on: one turn for each request, patient with long jobs. */

import { HvError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import type { QemuContext } from "../context.ts";
import { askMonitor } from "./monitors.ts";
import type { QmpSession } from "./qmp.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import { objectsIn } from "./answers.ts";
import { type Machine, machineEnded } from "./tell.ts";

/** A job of QEMU 7.2 holds its main loop, and the answer to the command that begins it, until memory is on disk. */
const JOB_LIMIT_MS = 10 * 60 * 1000;
const JOB_LOOK_MS = 5;
/** Jobs with another name are somebody else's. */
const JOB_PREFIX = "hvlab-";
/** Jobs that merge a disk. They end when the merge is taken up again, and never by themselves. */
export const MERGE_JOB_PREFIX = `${JOB_PREFIX}merge-`;

/** Asks and tells one VM. Every method throws `hv.unavailable` when its QEMU has ended. */
export class VmMonitor {
  readonly context: QemuContext;
  readonly vm: Machine;
  readonly #session: QmpSession | undefined;

  /** With a session that is open already, all of the work happens in it. */
  constructor(
    context: QemuContext,
    vm: Machine,
    session?: QmpSession,
  ) {
    this.context = context;
    this.vm = vm;
    this.#session = session;
  }

  /** Does one piece of work in one turn. */
  async ask<T extends object>(work: (session: QmpSession) => Promise<T>): Promise<T> {
    if (this.#session !== undefined) return await work(this.#session);
    const { id, runtime } = this.vm;
    const answer = await askMonitor(this.context.host, id, new RuntimeFolder(runtime), work);
    if (answer !== undefined) return answer;
    throw machineEnded(this.vm);
  }

  /** Sends one command. */
  async tell(name: string, args?: JsonObject): Promise<JsonValue> {
    const { answer } = await this.ask(async (session) => ({
      answer: await session.command(name, args, { timeoutMs: JOB_LIMIT_MS }),
    }));
    return answer;
  }

  /**
   * Runs one of QEMU's jobs to its end. It is never broken off half-way: QEMU cannot, and a caller that left early
   * would leave it working on. Throws `hv.job_failed` with QEMU's words.
   */
  async runJob(command: string, args: JsonObject): Promise<void> {
    const job = `${JOB_PREFIX}${crypto.randomUUID()}`;
    await this.tell(command, { "job-id": job, ...args });
    for (;;) {
      const entry = (await this.#jobs()).find(({ id }) => id === job);
      if (entry === undefined || entry.status === "concluded") {
        if (entry !== undefined) await this.tell("job-dismiss", { id: job });
        if (entry?.error === undefined) return;
        throw this.#jobFailed(command, String(entry.error));
      }
      await this.context.host.clock.sleep(JOB_LOOK_MS);
    }
  }

  /** Waits for jobs that a call of ours left behind when it was killed, and takes them off QEMU's list. */
  async finishOldJobs(): Promise<void> {
    for (;;) {
      const ours = (await this.#jobs()).filter(({ id }) => isAwaited(String(id)));
      const done = ours.filter(({ status }) => status === "concluded");
      for (const { id } of done) await this.tell("job-dismiss", { id: String(id) });
      if (ours.length === done.length) return;
      await this.context.host.clock.sleep(JOB_LOOK_MS);
    }
  }

  async #jobs(): Promise<Record<string, unknown>[]> {
    return objectsIn(await this.tell("query-jobs"));
  }

  #jobFailed(command: string, words: string): HvError {
    const { id, name } = this.vm;
    // QEMU 7.2 says no more than this of a disk on which the state did not fit.
    const cannotWrite = words.includes("writing VM state") || words.includes("No space left");
    const code = cannotWrite ? "hv.io" : "hv.job_failed";
    return new HvError(code, `QEMU's ${command} of "${name}" failed: ${words}`, {
      hint: cannotWrite
        ? "Look whether the disk with the state folder is full: a guest's whole memory must fit"
        : `Correct what QEMU names; what the VM is now shows: hvlab vm get ${id}`,
      context: { vm: id, command, qemu: words },
    });
  }
}

function isAwaited(job: string): boolean {
  return job.startsWith(JOB_PREFIX) && !job.startsWith(MERGE_JOB_PREFIX);
}
