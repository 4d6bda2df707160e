/** The screen of a machine whose guest has just crashed, kept in the VM's folder. */

import { toHvError } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { encodePng } from "../../../base/png.ts";
import type { QemuContext } from "../context.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import { takePicture } from "./screen.ts";

const FOLDER = "crashes";
/** How many a VM keeps; the oldest go. */
const KEPT = 5;

/**
 * Takes and keeps the picture of the crash of this moment. Answers details of the event: `screenshot`, where it lies, or
 * `screenshot_problem`, why there is none. Never rejects.
 */
export async function keepCrashPicture(
  context: QemuContext,
  vm: { id: string; runtime: string },
  session: QmpSession,
  at: number,
): Promise<JsonObject> {
  const { files } = context.host;
  const folder = joinPath(context.state.vm(vm.id), FOLDER);
  try {
    const png = await encodePng(await takePicture(context, vm.runtime, session));
    await files.makeFolder(folder, { parents: false });
    const path = joinPath(folder, `${new Date(at).toISOString().replaceAll(":", "-")}.png`);
    using writer = await files.create(path, { overwrite: true });
    await writer.write(png);
    const names = (await files.list(folder)).map(({ name }) => name).sort();
    for (const name of names.slice(0, -KEPT)) await files.remove(joinPath(folder, name));
    return { screenshot: path };
  } catch (error) {
    return { screenshot_problem: toHvError(error).message };
  }
}
