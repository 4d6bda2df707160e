/** Named pipes. */

import { fileFailure } from "./failures.ts";

/** A named pipe from which we read what another program writes. */
export interface PipeReader extends Disposable {
  /** To be called once the other program has opened the pipe: from then on its end is the end of the stream. */
  hasWriter(): void;
  /** The next bytes; `null` when the writer has ended. */
  read(): Promise<Uint8Array | null>;
  /** The writer's next write fails; it is told so by no other means. */
  close(): void;
}

const READ_BYTES = 64 * 1024;

/**
 * Opens a pipe that is there already. Open at both ends here, it neither waits for a writer nor has it ended before
 * there is one. Throws what {@link fileFailure} makes of a refusal.
 */
export async function openPipe(path: string): Promise<PipeReader> {
  const keptOpen = await open(path, { read: true, write: true });
  let isArmed = false;
  const hasWriter = (): void => {
    if (!isArmed) keptOpen.close();
    isArmed = true;
  };
  let file: Deno.FsFile;
  try {
    file = await open(path, { read: true });
  } catch (error) {
    hasWriter();
    throw error;
  }
  let isOpen = true;
  const close = (): void => {
    hasWriter();
    if (isOpen) file.close();
    isOpen = false;
  };
  return {
    hasWriter,
    async read() {
      const buffer = new Uint8Array(READ_BYTES);
      try {
        const count = await file.read(buffer);
        return count === null ? null : buffer.subarray(0, count);
      } catch (error) {
        throw fileFailure(error, "read", path);
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}

async function open(path: string, options: Deno.OpenOptions): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, options);
  } catch (error) {
    throw fileFailure(error, "open", path);
  }
}
