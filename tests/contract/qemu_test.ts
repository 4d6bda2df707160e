/** The contract suite on QEMU, with the real tiny guest. */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { openDriver } from "../../src/drivers/index.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { canRunGuests, findTinyImage } from "../support/tiny_image.ts";
import { runContract } from "./behaviour.ts";
import "./behaviours/index.ts";

const ignore = !canRunGuests();
const images = ignore ? "" : await importTinyOnce();

runContract("qemu", {
  openDriver: (_, options) => openDriver("qemu", options),
  image: "tiny",
  config: { ...DEFAULT_CONFIG, images: [images] },
}, { ignore });

/** The image never changes, so that all behaviours share one imported copy. */
async function importTinyOnce(): Promise<string> {
  const source = findTinyImage();
  if (source === undefined) throw new Error("the tiny image has gone");
  const root = await Deno.makeTempDir({ prefix: "hvlab-images-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));
  const state = new StateFolder(root);
  const findings = { get: () => Promise.resolve(undefined), put: () => Promise.resolve() };
  const driver = await openDriver("qemu", { host: openDenoHost(), config: DEFAULT_CONFIG, state, findings });
  await driver.images?.import(source, { signal: new AbortController().signal, progress: () => {} });
  await driver.close();
  return state.images;
}
