/** A host that dies under its program, as a program dies that is killed between two steps. */

import type { Host } from "../../src/host/host.ts";
import type { Connection } from "../../src/host/sockets.ts";

/** What every call of a dead host fails with. */
export class Killed extends Error {
  override readonly name = "Killed";
}

export interface MortalHost {
  host: Host;
  /** What was done, one word for each step. */
  readonly steps: string[];
  isDead(): boolean;
}

/** Requests to QEMU that change something; looks are no steps. */
const CHANGE =
  /"execute":"((?:snapshot|block|blockdev|device|netdev|job|migrate)[-_][a-z-]+|transaction|stop|cont|quit)"/;

/** Port forwards are changed through the monitor for people. */
const FORWARD = /hostfwd_[a-z]+/;

/**
 * Lets `life` steps happen and fails from the next one on: changes of files, programs and requests to QEMU that
 * change something. Locks and connections end as they do with a process.
 */
export function mortalHost(real: Host, life: number): MortalHost {
  const steps: string[] = [];
  let isDead = false;
  const step = (what: string): void => {
    if (steps.length >= life) isDead = true;
    if (isDead) throw new Killed(`killed before "${what}"`);
    steps.push(what);
  };
  const counted = <A extends unknown[], R>(what: string, work: (...args: A) => Promise<R>) =>
  async (
    ...args: A
  ): Promise<R> => {
    await Promise.resolve(step(what));
    return await work(...args);
  };
  const { files, processes, sockets } = real;
  const watched = (connection: Connection): Connection => ({
    read: () => connection.read(),
    async write(bytes) {
      const text = new TextDecoder().decode(bytes);
      const change = CHANGE.exec(text)?.[1] ?? FORWARD.exec(text)?.[0];
      if (change !== undefined) step(change);
      if (isDead) throw new Killed("killed");
      await connection.write(bytes);
    },
    close: () => connection.close(),
    [Symbol.dispose]: () => connection.close(),
  });
  const host: Host = {
    ...real,
    clock: {
      now: () => real.clock.now(),
      monotonic: () => real.clock.monotonic(),
      async sleep(ms, signal) {
        // The dead wait for nothing.
        if (isDead) throw new Killed("killed");
        await real.clock.sleep(ms, signal);
      },
    },
    files: {
      ...files,
      writeAtomically: counted("write", (path, text) => files.writeAtomically(path, text)),
      create(path, options) {
        // A lock's note says only what its holder does.
        if (!path.endsWith(".lock")) step("create");
        return files.create(path, options);
      },
      append: counted("append", (path) => files.append(path)),
      copy: counted("copy", (from, to) => files.copy(from, to)),
      rename: counted("rename", (from, to) => files.rename(from, to)),
      makeFolder: counted("make folder", (path, options) => files.makeFolder(path, options)),
      remove: counted("remove", (path) => files.remove(path)),
    },
    processes: {
      run(program, args, options) {
        if (program === "qemu-img") step(`qemu-img ${args[0]}`);
        if (program === "prlimit") step("qemu-img under limits");
        return processes.run(program, args, options);
      },
      start(program, args, options) {
        step("start QEMU");
        return processes.start(program, args, options);
      },
      open(program, args, options) {
        if (program === "prlimit") step("qemu-img under limits");
        return processes.open(program, args, options);
      },
      attach: (program, args, options) => processes.attach(program, args, options),
      find: (program) => processes.find(program),
      describe: (pid) => processes.describe(pid),
      isRunning: (pid) => processes.isRunning(pid),
      list: (name) => processes.list(name),
      kill(pid, signal) {
        step("kill");
        return processes.kill(pid, signal);
      },
    },
    sockets: {
      connectUnix: async (path) => {
        const connection = await sockets.connectUnix(path);
        return connection === undefined ? undefined : watched(connection);
      },
      connectTcp: (hostname, port) => sockets.connectTcp(hostname, port),
      listenUnix: (path) => sockets.listenUnix(path),
      isPortFree: (hostname, port) => sockets.isPortFree(hostname, port),
    },
  };
  return { host, steps, isDead: () => isDead };
}
