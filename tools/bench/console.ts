/** hvlab's own work on consoles: a screenshot from QEMU's picture to a PNG file, and reads of serial logs of two sizes. */

import { encodePng } from "../../src/base/png.ts";
import { readPortablePixmap } from "../../src/drivers/qemu/console/portable_pixmap.ts";
import { readPart } from "../../src/flows/console/serial_text.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 15;
const LAST_BYTES = 64 * 1024;

/** Measures in this process, on files of its own. */
export async function measureConsole(): Promise<Row[]> {
  const root = await Deno.makeTempDir({ prefix: "hv-" });
  try {
    const [text = NaN, desktop = NaN, small = NaN, large = NaN] = await measureSideBySide([
      pictureOf(root, 720, 400, 0.05),
      pictureOf(root, 1920, 1080, 0.3),
      logOf(root, 1),
      logOf(root, 1024),
    ], ROUNDS);
    return [
      { what: "screenshot of a text screen, own work", value: text, target: 100 },
      { what: "screenshot of 1920x1080 pixels, own work", value: desktop, target: 100 },
      { what: "last 64 KiB of a serial log of 1 MiB", value: small },
      { what: "last 64 KiB of a serial log of 1 GiB", value: large, baseline: small, target: 2 },
    ];
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** A picture of which a part is noise and the rest is plain. */
function pictureOf(root: string, width: number, height: number, noise: number): () => Promise<number> {
  const path = `${root}/${width}.ppm`;
  const header = new TextEncoder().encode(`P6\n${width} ${height}\n255\n`);
  const pixels = new Uint8Array(width * height * 3);
  let state = 1;
  for (let index = 0; index < pixels.length * noise; index++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    pixels[index] = state >> 16;
  }
  Deno.writeFileSync(path, Uint8Array.from([...header]));
  Deno.writeFileSync(path, pixels, { append: true });
  const { files } = openDenoHost();
  return async () => {
    const start = performance.now();
    using file = files.open(path);
    await encodePng(readPortablePixmap(file.read(0, file.size)));
    return performance.now() - start;
  };
}

function logOf(root: string, sizeMb: number): () => Promise<number> {
  const path = `${root}/${sizeMb}.log`;
  using file = Deno.openSync(path, { write: true, create: true });
  file.truncateSync(sizeMb * 1024 * 1024);
  const { files } = openDenoHost();
  return () => {
    const start = performance.now();
    using log = files.open(path);
    const part = readPart({ ...log, kept_from: 0, [Symbol.dispose]: () => {} }, undefined, LAST_BYTES);
    if (part.text.length !== LAST_BYTES) throw new Error(`${part.text.length} characters were read`);
    return Promise.resolve(performance.now() - start);
  };
}
