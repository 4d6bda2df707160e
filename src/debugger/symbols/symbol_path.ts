/** Where symbols are looked for, in the syntax that debuggers use. */

/** A path taken apart. */
export interface SymbolPath {
  /** Folders in the order in which they are looked at. */
  readonly roots: readonly string[];
  /** Parts that lie on other machines. Those of {@link servers} can be fetched from, on request. */
  readonly remote: readonly string[];
  /** Stores that are reached over http or https. */
  readonly servers: readonly string[];
}

const REMOTE = /^(?:[a-z][a-z0-9+.-]+:\/\/|\\\\|\/\/)/i;
const SERVER_URL = /^https?:\/\/[^/?#]+/i;
const SERVER = /^(?:srv|cache)\*/i;
const SERVER_WITH_LIBRARY = /^symsrv\*[^*]*\*/i;

/**
 * Reads `FOLDER;srv*STORE*STORE;cache*STORE`. A store and a plain folder are looked at alike. Empty parts stand for
 * a debugger's own default folder and are left out; doubled ones count once.
 */
export function parseSymbolPath(text: string): SymbolPath {
  const roots = new Set<string>();
  const remote = new Set<string>();
  for (const element of text.split(";")) {
    const bare = element.trim().replace(SERVER_WITH_LIBRARY, "").replace(SERVER, "");
    const isServer = bare !== element.trim();
    for (const part of isServer ? bare.split("*") : [bare]) {
      const path = part.trim();
      if (path === "") continue;
      (REMOTE.test(path) ? remote : roots).add(path);
    }
  }
  return {
    roots: [...roots],
    remote: [...remote],
    servers: [...remote].filter((place) => SERVER_URL.test(place)),
  };
}
