/** Values that are worked out when they are first asked for. */

/** A function that calls `make` the first time and gives the same answer ever after; a failure is not kept. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
