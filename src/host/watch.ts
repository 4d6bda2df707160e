/** Being told of changes in a folder, where the system can tell. */

/**
 * Calls back when something in the folder changes whose path the filter takes. Costs nothing while nothing changes.
 * Where the system or its file system tells of no changes nothing is ever called, so that whoever needs to know looks
 * from time to time as well.
 */
export function watchFolder(
  folder: string,
  filter: (path: string) => boolean,
  changed: () => void,
): AsyncDisposable {
  let watcher: Deno.FsWatcher;
  try {
    watcher = Deno.watchFs(folder, { recursive: false });
  } catch {
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const done = tell(watcher, filter, changed).catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      watcher.close();
      await done;
    },
  };
}

async function tell(
  watcher: Deno.FsWatcher,
  filter: (path: string) => boolean,
  changed: () => void,
): Promise<void> {
  for await (const { kind, paths } of watcher) {
    if (kind !== "access" && paths.some(filter)) changed();
  }
}
