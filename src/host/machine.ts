/** Facts about the machine that hvlab runs on. */

export interface Machine {
  /** Logical processors. */
  processors(): number;
  /** Physical memory in MiB: all of it, and what a new program could get. */
  memory(): { total_mb: number; available_mb: number };
  hostname(): string;
  /** CPU architecture as Deno names it: `x86_64` or `aarch64`. */
  architecture(): string;
  /** This process's identifier. */
  processId(): number;
  /** Who started this process; another number once that one has ended. */
  parentProcessId(): number;
  osRelease(): string;
  /** The user that this process runs as; `null` where the platform has no such number. */
  userId(): number | null;
}

const MIB = 1024 * 1024;

export const denoMachine: Machine = {
  processors: () => navigator.hardwareConcurrency,
  memory() {
    const { total, available } = Deno.systemMemoryInfo();
    return { total_mb: Math.floor(total / MIB), available_mb: Math.floor(available / MIB) };
  },
  hostname: () => Deno.hostname(),
  architecture: () => Deno.build.arch,
  processId: () => Deno.pid,
  parentProcessId: () => Deno.ppid,
  osRelease: () => Deno.osRelease(),
  userId: () => Deno.uid(),
};
