/** Files fetched from a real server on this machine. */

import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { SymbolDownloads } from "../../../../src/debugger/symbols/downloads.ts";
import { SymbolStores } from "../../../../src/debugger/symbols/stores.ts";
import { parseSymbolPath } from "../../../../src/debugger/symbols/symbol_path.ts";
import { symbolSearch } from "../../../../src/debugger/symbols/symbol_search.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { hasSample, samplePath } from "../../../support/shared_samples.ts";
import { writeLzxCabinet } from "../../../support/lzx_writer.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const WANTED = { name: "evil é.pdb", key: "CFA6BD75D94C334B4C4C44205044422E1" };
const GOOD = new TextEncoder().encode(`good ${"x".repeat(200_000)}`);
const PATH = `/${encodeURIComponent(WANTED.name)}/${WANTED.key}/${encodeURIComponent(WANTED.name)}`;

const POINTER = PATH.replace(/[^/]*$/, "file.ptr");

interface Served {
  bytes: Uint8Array<ArrayBuffer>;
  tag?: string;
  /** Breaks off after so many bytes, once. */
  cut?: number;
}

class Server implements AsyncDisposable {
  readonly files = new Map<string, Served>();
  readonly asked: string[] = [];
  readonly redirects = new Map<string, string>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/store/`;
  }

  #answer(request: Request): Response {
    const path = new URL(request.url).pathname.replace(/^\/store/, "");
    const range = request.headers.get("range");
    this.asked.push(`${path}${range === null ? "" : ` ${range}`}`);
    const redirect = this.redirects.get(path);
    if (redirect !== undefined) return new Response(null, { status: 302, headers: { location: redirect } });
    const file = this.files.get(path);
    if (file === undefined) return new Response("not here", { status: 404 });
    const { bytes, tag, cut } = file;
    const start = range !== null && request.headers.get("if-range") === tag
      ? Number(/^bytes=(\d+)-$/.exec(range)?.[1])
      : 0;
    const rest = bytes.subarray(start);
    delete file.cut;
    const body = cut === undefined ? rest : new Blob([rest.slice(0, cut)]).stream();
    const headers = new Headers({ "content-length": String(rest.length) });
    if (tag !== undefined) headers.set("etag", tag);
    if (start > 0) headers.set("content-range", `bytes ${start}-${bytes.length - 1}/${bytes.length}`);
    return new Response(body, { status: start > 0 ? 206 : 200, headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

interface Lab {
  readonly server: Server;
  readonly cache: string;
  /** One call's search for the file; null when nothing fitted. */
  find(
    options?: { limitBytes?: number; servers?: string[] },
  ): Promise<{ path: string | null; warnings: string[] }>;
}

async function withLab(work: (lab: Lab) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    await using server = new Server();
    const cache = `${folder}/cache`;
    await work({
      server,
      cache,
      async find({ limitBytes = 2 ** 30, servers = [server.url] } = {}) {
        const host = openDenoHost();
        const downloads = new SymbolDownloads(host, {
          ...{ servers, cache, limitBytes },
          allow: (address) => {
            if (address.includes("forbidden")) throw new HvError("hv.policy_denied", "It is forbidden");
          },
          signal: new AbortController().signal,
          progress: () => {},
        });
        const path = parseSymbolPath(servers.join(";"));
        using stores = new SymbolStores(
          host.files,
          { ...path, roots: await exists(cache) ? [cache] : [] },
          downloads,
        );
        const found = await stores.find(WANTED, (source) => {
          const text = new TextDecoder().decode(source.read(0, 4));
          return text === "good" && source.size === GOOD.length ? text : null;
        });
        return { path: found?.path ?? null, warnings: stores.warnings.map(({ reason }) => reason) };
      },
    });
  });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function names(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => !name.endsWith(".lock"))
    .sort();
}

Deno.test("a file is fetched once, and lies in the cache as in a store", async () => {
  await withLab(async ({ server, cache, find }) => {
    server.files.set(PATH, { bytes: GOOD });
    const { path, warnings } = await find();
    const keyed = `${cache}/${WANTED.name}/${WANTED.key}`;
    assert.deepEqual([path, warnings], [`${keyed}/${WANTED.name}`, []]);
    assert.deepEqual(await Deno.readFile(path ?? ""), GOOD);
    assert.deepEqual(names(keyed), [WANTED.name], "nothing half is left");
    assert.equal((await find()).path, path);
    assert.deepEqual(server.asked, [PATH], "the second call has it");
  });
});

Deno.test("a packed file is found after the plain one is not, and the next server after the first", async () => {
  await withLab(async ({ server, find }) => {
    const packed = writeLzxCabinet(WANTED.name, GOOD, {
      ...{ windowBits: 15, parts: ["verbatim"], partBytes: 1 << 20, translation: 0 },
    });
    server.files.set(PATH.replace(/b$/, "_"), { bytes: packed });
    const empty = `${server.url}empty`;
    const { path, warnings } = await find({ servers: [empty, server.url] });
    assert.match(path ?? "", /evil é\.pd_$/);
    assert.deepEqual(warnings, []);
    assert.deepEqual(server.asked, [
      `/empty${PATH}`,
      `/empty${PATH.replace(/b$/, "_")}`,
      `/empty${POINTER}`,
      PATH,
      PATH.replace(/b$/, "_"),
    ]);
    assert.deepEqual(await find({ servers: [empty, server.url] }), { path, warnings: [] });
  });
});

Deno.test("a download that broke off goes on where it was, and begins again when the file is another", async () => {
  await withLab(async ({ server, find }) => {
    server.files.set(PATH, { bytes: GOOD, tag: '"one"', cut: 5000 });
    const broken = await find();
    assert.deepEqual(broken, { path: null, warnings: ["symbols_download"] });
    const resumed = await find();
    assert.deepEqual(await Deno.readFile(resumed.path ?? ""), GOOD);
    const range = server.asked.find((asked) => asked.startsWith(`${PATH} `));
    assert.match(range ?? "", / bytes=[1-9]\d*-$/);

    await Deno.remove(resumed.path ?? "");
    server.files.set(PATH, { bytes: new Uint8Array(GOOD.length), tag: '"old"', cut: 7000 });
    await find();
    server.files.set(PATH, { bytes: GOOD, tag: '"new"' });
    assert.deepEqual(
      await Deno.readFile((await find()).path ?? ""),
      GOOD,
      "no byte of the old version is in it",
    );
  });
});

Deno.test("what is not what was asked for is not kept, and too much is not fetched", async () => {
  await withLab(async ({ server, cache, find }) => {
    server.files.set(PATH, { bytes: new TextEncoder().encode("<html>sign in</html>") });
    assert.deepEqual(await find(), { path: null, warnings: ["symbols_mismatch"] });
    assert.deepEqual(names(`${cache}/${WANTED.name}/${WANTED.key}`), []);
    server.files.set(PATH, { bytes: GOOD });
    assert.deepEqual(await find({ limitBytes: 1000 }), { path: null, warnings: ["symbols_download"] });
  });
});

Deno.test("redirections are followed, also to nowhere; a server that is not there is a warning", async () => {
  await withLab(async ({ server, find }) => {
    server.files.set("/blob", { bytes: GOOD });
    server.redirects.set(PATH, "/store/blob");
    assert.notEqual((await find()).path, null);
    server.redirects.set("/round", "/store/round");
  });
  await withLab(async ({ server, find }) => {
    server.redirects.set(PATH, `/store${PATH}`);
    assert.deepEqual(await find(), { path: null, warnings: ["symbols_download"] });
    server.files.set("/forbidden", { bytes: GOOD });
    server.redirects.set(PATH, "/store/forbidden");
    assert.deepEqual(await find(), { path: null, warnings: ["symbols_download"] });
    server.redirects.set(PATH, "file:///etc/passwd");
    assert.deepEqual(await find(), { path: null, warnings: ["symbols_download"] });
    const gone = new Server();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    assert.deepEqual(await find({ servers: [url] }), { path: null, warnings: ["symbols_download"] });
  });
});

function pointer(text: string): Served {
  return { bytes: new TextEncoder().encode(text) };
}

Deno.test("a pointer is followed inside its store and to other servers, and the file is kept under its name", async () => {
  await withLab(async ({ server, cache, find }) => {
    server.files.set(POINTER, pointer("PATH:blobs\\evil é.bin\r\n"));
    server.files.set("/blobs/evil%20%C3%A9.bin", { bytes: GOOD });
    const { path, warnings } = await find();
    assert.deepEqual([path, warnings], [`${cache}/${WANTED.name}/${WANTED.key}/${WANTED.name}`, []]);
    assert.deepEqual(names(`${cache}/${WANTED.name}/${WANTED.key}`), [WANTED.name], "without the pointer");
  });
  await withLab(async ({ server, find }) => {
    await using other = new Server();
    other.files.set("/elsewhere", { bytes: GOOD });
    server.files.set(POINTER, pointer(`${other.url}elsewhere`));
    assert.notEqual((await find()).path, null);
    assert.deepEqual(other.asked, ["/elsewhere"]);
  });
  await withLab(async ({ server, find }) => {
    server.files.set(POINTER, pointer("blob"));
    server.files.set("/blob", { bytes: GOOD, tag: '"one"', cut: 5000 });
    assert.deepEqual(await find(), { path: null, warnings: ["symbols_download"] });
    assert.deepEqual(await Deno.readFile((await find()).path ?? ""), GOOD);
    assert(server.asked.some((asked) => asked.startsWith("/blob bytes=")), "it goes on where it broke off");
  });
});

Deno.test("a pointer out of its store, to a forbidden server, or to the wrong file gives a warning and no file", async () => {
  const warned = { path: null, warnings: ["symbols_download"] };
  await withLab(async ({ server, find }) => {
    for (
      const place of ["\\\\host\\share\\a.pdb", "D:\\a.pdb", "/etc/passwd", "..\\..\\a.pdb", "file:///a.pdb"]
    ) {
      server.files.set(POINTER, pointer(`PATH:${place}`));
      assert.deepEqual(await find(), warned, place);
    }
    server.files.set(POINTER, pointer("http://forbidden.example/a.pdb"));
    assert.deepEqual(await find(), warned);
    server.files.set(POINTER, pointer("MSG: not kept any more"));
    assert.deepEqual(await find(), { path: null, warnings: [] });
    server.files.set(POINTER, pointer("blob"));
    assert.deepEqual(await find(), { path: null, warnings: [] }, "there is nothing where it leads");
    server.files.set("/blob", { bytes: new TextEncoder().encode("another file") });
    assert.deepEqual(await find(), { path: null, warnings: ["symbols_mismatch"] });
  });
});

Deno.test("calls at the same time fetch a file once", async () => {
  await withLab(async ({ server, find }) => {
    server.files.set(PATH, { bytes: GOOD });
    const all = await Promise.all([find(), find(), find()]);
    assert(all.every(({ path }) => path !== null));
    assert.deepEqual(server.asked, [PATH]);
  });
});

const STORE = "dumps/made/symbols";
Deno.test({
  name: "a triage with a server has the names that a local store gives, and keeps them",
  ignore: !hasSample(STORE),
  async fn() {
    await withTemporaryFolder(async (folder) => {
      await using server = new Server();
      for (const name of ["evil.pdb", "ntkrnlmp.pdb", "evil.sys", "ntoskrnl.exe"]) {
        for (const { name: key } of Deno.readDirSync(samplePath(`${STORE}/${name}`))) {
          const bytes = await Deno.readFile(samplePath(`${STORE}/${name}/${key}/${name}`));
          server.files.set(`/${name}/${key}/${name}`, { bytes });
        }
      }
      const host = openDenoHost();
      const path = samplePath("dumps/synthetic/triage64.dmp");
      const symbols = `srv*${folder}/own*${server.url}`;
      const triage = (download: boolean) =>
        triageDumpFile(host.files, host.clock, {
          ...{ path, full: false },
          ...symbolSearch(host, {
            ...{ symbols, download, limitBytes: 2 ** 30, cache: `${folder}/cache` },
            allow: () => {},
            signal: new AbortController().signal,
            progress: () => {},
          }),
        });
      const before = await triage(false);
      assert(before.warnings.some(({ message }) => message.includes("--download")));
      const online = await triage(true);
      assert.equal(online.stack_frames, 13);
      assert.equal(online.culprit?.symbol, "FrLeaf");
      assert.equal(online.bucket, before.bucket, "the same crash");
      const offline = await triage(false);
      assert.equal(offline.stack_frames, 13);
      assert.throws(
        () =>
          symbolSearch(host, {
            ...{ symbols: "/only/local", download: true, limitBytes: 1, cache: folder },
            allow: () => {},
            progress: () => {},
            signal: new AbortController().signal,
          }),
        (error: HvError) => error.code === "hv.usage",
      );
    });
  },
});
