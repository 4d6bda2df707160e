/** Headers of virtual disks, written without any of the reader's tables. */

/** What of a qcow2 header a test wants otherwise. */
export interface Qcow2Wish {
  version?: number;
  size?: bigint;
  backing?: string;
  backingFormat?: string;
  incompatible?: bigint;
  clusterBits?: number;
  l1?: number;
  snapshots?: number;
  dataFile?: string;
}

/** A qcow2 file of one cluster: a header, and no data. */
export function qcow2File(
  {
    version = 3,
    size = 1n << 20n,
    backing,
    backingFormat,
    incompatible = 0n,
    clusterBits = 16,
    l1 = 1,
    snapshots = 0,
    dataFile,
  }: Qcow2Wish = {},
): Uint8Array {
  const bytes = new Uint8Array(65536);
  const view = new DataView(bytes.buffer);
  const text = new TextEncoder();
  bytes.set([0x51, 0x46, 0x49, 0xfb]);
  view.setUint32(4, version);
  view.setUint32(20, clusterBits);
  view.setBigUint64(24, size);
  view.setUint32(36, l1);
  view.setUint32(60, snapshots);
  let at = version === 2 ? 72 : 104;
  if (version !== 2) {
    view.setBigUint64(72, incompatible);
    view.setUint32(100, 104);
  }
  for (const [type, value] of [[0xe2792aca, backingFormat], [0x44415441, dataFile]] as const) {
    if (value === undefined) continue;
    const words = text.encode(value);
    view.setUint32(at, type);
    view.setUint32(at + 4, words.length);
    bytes.set(words, at + 8);
    at += 8 + 8 * Math.ceil(words.length / 8);
  }
  if (backing !== undefined) {
    const words = text.encode(backing);
    view.setBigUint64(8, BigInt(at + 8));
    view.setUint32(16, words.length);
    bytes.set(words, at + 8);
  }
  return bytes;
}

/** A dynamic or differencing VHD: a footer, a header, locators, and the footer again. */
export function vhdFile(
  { id, parent }: { id: string; parent?: { id: string; relative: string } },
): Uint8Array {
  const bytes = new Uint8Array(4096);
  const view = new DataView(bytes.buffer);
  const footer = new Uint8Array(512);
  const foot = new DataView(footer.buffer);
  footer.set(new TextEncoder().encode("conectix"));
  foot.setBigUint64(16, 512n);
  foot.setBigUint64(48, 1n << 20n);
  foot.setUint32(60, parent === undefined ? 3 : 4);
  footer.set(guidBytes(id), 68);
  foot.setUint32(64, ~footer.reduce((sum, byte) => sum + byte, 0) >>> 0);
  bytes.set(footer);
  bytes.set(footer, 3584);
  bytes.set(new TextEncoder().encode("cxsparse"), 512);
  if (parent === undefined) return bytes;
  bytes.set(guidBytes(parent.id), 512 + 40);
  const words = utf16(parent.relative);
  bytes.set(new TextEncoder().encode("W2ru"), 512 + 576);
  view.setUint32(512 + 576 + 8, words.length);
  view.setBigUint64(512 + 576 + 16, 2048n);
  bytes.set(words, 2048);
  return bytes;
}

/** A VHDX without data: identifier, headers, region table, metadata. */
export function vhdxFile(
  { id, size = 1n << 20n, parent }: { id: string; size?: bigint; parent?: { id: string; relative: string } },
): Uint8Array {
  const bytes = new Uint8Array(1024 * 1024);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("vhdxfile"));
  for (const [index, at] of [65536, 131072].entries()) {
    bytes.set(new TextEncoder().encode("head"), at);
    view.setBigUint64(at + 8, BigInt(index + 1), true);
    // Only the newer header counts; the other one has another id.
    bytes.set(guidBytes(index === 1 ? id : "00000000-0000-0000-0000-000000000000"), at + 32);
  }
  bytes.set(new TextEncoder().encode("regi"), 196608);
  view.setUint32(196608 + 8, 1, true);
  bytes.set(guidBytes("8b7ca206-4790-4b9a-b8fe-575f050f886e"), 196608 + 16);
  view.setBigUint64(196608 + 32, 524288n, true);
  view.setUint32(196608 + 40, 65536 * 2, true);
  const metadata = 524288;
  bytes.set(new TextEncoder().encode("metadata"), metadata);
  const items: [string, Uint8Array][] = [
    ["caa16737-fa36-4d43-b3b6-33f0aa44e76b", bytesOf(8, (item) => item.setUint32(4, parent ? 2 : 0, true))],
    ["2fa54224-cd1b-4876-b211-5dbed83bf4b8", bytesOf(8, (item) => item.setBigUint64(0, size, true))],
  ];
  if (parent !== undefined) items.push(["a8d35f2d-b30b-454d-abf7-d3d84834ab0c", locatorOf(parent)]);
  view.setUint16(metadata + 10, items.length, true);
  let offset = 65536;
  for (const [index, [guid, item]] of items.entries()) {
    const entry = metadata + 32 * (index + 1);
    bytes.set(guidBytes(guid), entry);
    view.setUint32(entry + 16, offset, true);
    view.setUint32(entry + 20, item.length, true);
    bytes.set(item, metadata + offset);
    offset += 1024;
  }
  return bytes;
}

/** A monolithic sparse VMDK's first sectors. */
export function vmdkFile(
  { id, parent }: { id: string; parent?: { id: string; name: string } },
): Uint8Array {
  const bytes = new Uint8Array(65536);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("KDMV"));
  view.setBigUint64(12, 2048n, true);
  view.setBigUint64(28, 1n, true);
  view.setBigUint64(36, 20n, true);
  const lines = [
    "# Disk DescriptorFile",
    `CID=${id}`,
    `parentCID=${parent?.id ?? "ffffffff"}`,
    'createType="monolithicSparse"',
    ...(parent === undefined ? [] : [`parentFileNameHint="${parent.name}"`]),
  ];
  bytes.set(new TextEncoder().encode(lines.join("\n") + "\n"), 512);
  return bytes;
}

function locatorOf({ id, relative }: { id: string; relative: string }): Uint8Array {
  const pairs = [["parent_linkage", `{${id}}`], ["relative_path", relative]].map((pair) => pair.map(utf16));
  return bytesOf(512, (item, bytes) => {
    item.setUint16(18, pairs.length, true);
    let at = 100;
    for (const [index, [key = new Uint8Array(), value = new Uint8Array()]] of pairs.entries()) {
      const entry = 20 + index * 12;
      item.setUint32(entry, at, true);
      item.setUint16(entry + 8, key.length, true);
      bytes.set(key, at);
      at += key.length;
      item.setUint32(entry + 4, at, true);
      item.setUint16(entry + 10, value.length, true);
      bytes.set(value, at);
      at += value.length;
    }
  });
}

function bytesOf(length: number, fill: (view: DataView, bytes: Uint8Array) => void): Uint8Array {
  const bytes = new Uint8Array(length);
  fill(new DataView(bytes.buffer), bytes);
  return bytes;
}

function utf16(text: string): Uint8Array {
  return Uint8Array.from(
    [...text].flatMap((letter) => [letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8]),
  );
}

/** A GUID as Windows writes it: its first three groups from their last byte on. */
function guidBytes(guid: string): Uint8Array {
  const [one = "", two = "", three = "", four = "", five = ""] = guid.split("-");
  const pairs = (text: string): number[] => (text.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
  return Uint8Array.from([
    ...pairs(one).reverse(),
    ...pairs(two).reverse(),
    ...pairs(three).reverse(),
    ...pairs(four),
    ...pairs(five),
  ]);
}
