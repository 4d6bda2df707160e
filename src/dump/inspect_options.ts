/** What an inspection is told. */

/** What an inspection is told about the file beside its bytes. */
export interface InspectOptions {
  /** Path as the user gave it; it is repeated in the answer, and a folder of live dumps in it is recognised. */
  path: string;
  /** Bytes that the file really takes on disk, where the platform tells; finds files with holes. */
  allocatedBytes?: number | null;
}
