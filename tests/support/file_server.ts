/** A web server on this machine that serves one file well, or in one of the ways in which servers fail. */

/** How the server behaves under a path; everything else is 404. */
export const PLACES = {
  whole: "/whole",
  /** Does not know how to go on. */
  withoutRanges: "/without-ranges",
  /** Sends half of what it promises, each time. */
  half: "/half",
  /** Sends some bytes and then nothing. */
  stalling: "/stalling",
  /** Takes the request and says nothing. */
  silent: "/silent",
  /** Sends a file of the right length with a wrong byte. */
  wrong: "/wrong",
  /** Promises more than anybody has. */
  boasting: "/boasting",
  /** Says nothing of the length. */
  open: "/open",
  redirect: "/redirect",
  loop: "/loop",
} as const;

export interface FileServer extends AsyncDisposable {
  url(place: string): string;
  /** Requests so far, as `PATH` or `PATH from BYTE`. */
  readonly requests: string[];
}

/** Serves these bytes on a free port. */
export function serveFile(body: Uint8Array): FileServer {
  const requests: string[] = [];
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const { port } = listener.addr;
  const url = (place: string): string => `http://127.0.0.1:${port}${place}`;
  const work: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      work.push(
        answer(connection, body, url, requests).catch(() => {}).finally(() => close(open, connection)),
      );
    }
  })();
  return {
    url,
    requests,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of [...open]) close(open, connection);
      await accepting.catch(() => {});
      await Promise.all(work);
    },
  };
}

function close(open: Set<Deno.Conn>, connection: Deno.Conn): void {
  if (open.delete(connection)) connection.close();
}

async function answer(
  connection: Deno.Conn,
  body: Uint8Array,
  url: (place: string) => string,
  requests: string[],
): Promise<void> {
  const request = await readHead(connection);
  const path = request.split(" ")[1] ?? "";
  const asked = /^range: bytes=(\d+)-/im.exec(request)?.[1];
  requests.push(asked === undefined ? path : `${path} from ${asked}`);
  const from = asked === undefined || path === PLACES.withoutRanges ? 0 : Number(asked);
  const part = body.subarray(from);
  const send = async (
    status: string,
    headers: string[],
    bytes: Uint8Array = new Uint8Array(),
  ): Promise<void> => {
    const head = [`HTTP/1.1 ${status}`, ...headers, "Connection: close", "", ""].join("\r\n");
    await writeAll(connection, new TextEncoder().encode(head));
    await writeAll(connection, bytes);
  };
  const sized = [`Content-Length: ${part.length}`, 'ETag: "one"'];
  const range = `Content-Range: bytes ${from}-${body.length - 1}/${body.length}`;
  const whole: [string, string[]] = from === 0
    ? ["200 OK", sized]
    : ["206 Partial Content", [...sized, range]];
  switch (path) {
    case PLACES.whole:
    case PLACES.withoutRanges:
      return await send(...whole, part);
    case PLACES.half:
      return await send(...whole, part.subarray(0, Math.ceil(part.length / 2)));
    case PLACES.stalling:
      await send(...whole, part.subarray(0, 4096));
      return await untilClosed(connection);
    case PLACES.silent:
      return await untilClosed(connection);
    case PLACES.wrong: {
      const changed = body.slice();
      changed[100] = (changed[100] ?? 0) ^ 1;
      return await send("200 OK", [`Content-Length: ${changed.length}`], changed);
    }
    case PLACES.boasting:
      return await send("200 OK", ["Content-Length: 99999999999999"], body);
    case PLACES.open:
      return await send("200 OK", ['ETag: "one"'], body);
    case PLACES.redirect:
      return await send("302 Found", [`Location: ${PLACES.whole}`, "Content-Length: 0"]);
    case PLACES.loop:
      return await send("302 Found", [`Location: ${url(PLACES.loop)}`, "Content-Length: 0"]);
    default:
      return await send("404 Not Found", ["Content-Length: 0"]);
  }
}

/** Whoever listens gives up first, and closes. */
async function untilClosed(connection: Deno.Conn): Promise<void> {
  await connection.read(new Uint8Array(1));
}

async function readHead(connection: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(8192);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
