/** Files that import each other in a circle: none of them can be read, tested or moved without the others. */

/** One import between two files of the repository, by their paths from its folder on. */
export interface Edge {
  from: string;
  to: string;
}

/** One circle for each import that closes one, as the files on its way and the first of them once more. */
export function findCircles(edges: readonly Edge[]): string[][] {
  const importsOf = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const way: string[] = [];
  const circles: string[][] = [];
  const walk = (file: string): void => {
    const start = way.indexOf(file);
    if (start >= 0) circles.push([...way.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    way.push(file);
    for (const to of new Set(importsOf.get(file)?.map((edge) => edge.to))) walk(to);
    way.pop();
    done.add(file);
  };
  for (const file of importsOf.keys()) walk(file);
  return circles;
}
