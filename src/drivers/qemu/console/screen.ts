/** What a machine's screen shows. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { Picture } from "../../../base/png.ts";
import type { QemuContext } from "../context.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import { readPortablePixmap } from "./portable_pixmap.ts";

/** Takes a picture through an open session. Throws `hv.unsupported` when the machine has no screen. */
export async function takePicture(
  { host }: QemuContext,
  runtime: string,
  session: QmpSession,
  signal?: AbortSignal,
): Promise<Picture> {
  const path = joinPath(runtime, `screen-${crypto.randomUUID().slice(0, 8)}.ppm`);
  try {
    // The answer comes when the file is whole (QEMU 7.2).
    await session.command("screendump", { filename: path }, { signal });
    using file = host.files.open(path);
    return readPortablePixmap(file.read(0, file.size));
  } catch (error) {
    const words = error instanceof HvError ? error.context.qemu : undefined;
    if (typeof words !== "string" || !/no (?:graphical )?console|no screen/i.test(words)) throw error;
    throw new HvError("hv.unsupported", `The VM has no screen: ${words}`, {
      hint: "Look at its serial line: hvlab serial read",
      context: { qemu: words },
    });
  } finally {
    await host.files.remove(path);
  }
}
