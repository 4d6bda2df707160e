/** Sockets: unix ones to QEMU's monitors and agents, TCP ones to forwarded ports. */

import { HvError } from "../base/errors.ts";

/** A connected stream socket. */
export interface Connection extends Disposable {
  /** The next bytes; `null` at the end of the stream, and after a reset by the other side. */
  read(): Promise<Uint8Array | null>;
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/** A socket that others connect to. */
export interface Listener extends Disposable {
  /** The next one who connects; rejects with the signal's reason when that aborts first. */
  accept(signal: AbortSignal): Promise<Connection>;
  close(): void;
}

export interface Sockets {
  /** Connects to a unix socket; `undefined` when nobody listens or nothing is there, `hv.conflict` when too many wait. */
  connectUnix(path: string): Promise<Connection | undefined>;
  /** Connects to a TCP port; `undefined` when nobody listens there. */
  connectTcp(hostname: string, port: number): Promise<Connection | undefined>;
  /** Listens on a new unix socket; the caller removes its path. Throws `hv.io` when something is there already. */
  listenUnix(path: string): Listener;
  /** Whether a TCP port can be bound right now. */
  isPortFree(hostname: string, port: number): boolean;
}

const READ_BYTES = 64 * 1024;
/** Up to here copying what came is cheaper than a new buffer. */
const SHORT_BYTES = 4096;

export const denoSockets: Sockets = {
  async connectUnix(path) {
    try {
      return connectionOf(await Deno.connect({ transport: "unix", path }));
    } catch (error) {
      return refusedOrThrow(error, path);
    }
  },

  async connectTcp(hostname, port) {
    try {
      return connectionOf(await Deno.connect({ hostname, port }));
    } catch (error) {
      return refusedOrThrow(error, `${hostname}:${port}`);
    }
  },

  listenUnix(path) {
    try {
      return listenerOf(Deno.listen({ transport: "unix", path }));
    } catch (error) {
      throw socketFailure(error, path, "listen on");
    }
  },

  isPortFree(hostname, port) {
    try {
      Deno.listen({ hostname, port }).close();
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) return false;
      // Windows keeps ranges of ports for Hyper-V's networks and refuses them as forbidden (WSAEACCES).
      if (Deno.build.os === "windows" && error instanceof Deno.errors.PermissionDenied) return false;
      throw socketFailure(error, `${hostname}:${port}`);
    }
  },
};

function listenerOf(listener: Deno.Listener): Listener {
  let open = true;
  const close = (): void => {
    if (open) listener.close();
    open = false;
  };
  return {
    async accept(signal) {
      signal.throwIfAborted();
      signal.addEventListener("abort", close, { once: true });
      try {
        return connectionOf(await listener.accept());
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener("abort", close);
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}

function connectionOf(connection: Deno.Conn): Connection {
  let open = true;
  let room = new Uint8Array(READ_BYTES);
  const close = (): void => {
    if (open) connection.close();
    open = false;
  };
  return {
    async read() {
      try {
        const count = await connection.read(room);
        if (count === null) return null;
        if (count <= SHORT_BYTES) return room.slice(0, count);
        const bytes = room.subarray(0, count);
        room = new Uint8Array(READ_BYTES);
        return bytes;
      } catch (error) {
        if (isEnded(error)) return null;
        throw error;
      }
    },
    async write(bytes) {
      let written = 0;
      while (written < bytes.length) written += await connection.write(bytes.subarray(written));
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** Our own close and a peer's reset end the stream; QEMU's death shows as either (measured on QEMU 7.2). */
function isEnded(error: unknown): boolean {
  return error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}

/** A listener that closes while somebody stands in its queue resets that one: nobody listens any more. */
function refusedOrThrow(error: unknown, address: string): undefined {
  if (
    error instanceof Deno.errors.NotFound || error instanceof Deno.errors.ConnectionRefused ||
    error instanceof Deno.errors.ConnectionReset
  ) {
    return undefined;
  }
  throw socketFailure(error, address);
}

/** Whether a connect failed because as many as the listener lets wait are waiting: somebody is there. */
export function isQueueFull(error: unknown): boolean {
  return error instanceof HvError && error.code === "hv.conflict" && error.context.reason === "busy";
}

function socketFailure(error: unknown, address: string, action = "connect to"): HvError {
  // A listener serves somebody, and as many as it lets wait are waiting (EAGAIN on unix sockets).
  if (error instanceof Deno.errors.WouldBlock) {
    return new HvError("hv.conflict", `Cannot ${action} "${address}": it is busy with others`, {
      hint: "Try again in a moment",
      context: { address, reason: "busy", wanted: "idle", found: "busy" },
      retryable: true,
      cause: error,
    });
  }
  const denied = error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied;
  const text = error instanceof Error ? error.message : String(error);
  return new HvError(denied ? "hv.permission" : "hv.io", `Cannot ${action} "${address}": ${text}`, {
    context: { address },
    cause: error,
  });
}
