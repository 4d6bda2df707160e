/** What the operations that make a VM take. */

/** What a new VM bears while it is made and when it is done. */
export interface Birth {
  /** Its name meanwhile, and its folder's name for good. */
  passing: string;
  notes: string;
  final_notes: string;
}

/** What a VM is made of, as the operation takes it. */
export interface MachineParts extends Birth {
  name: string;
  generation: 1 | 2;
  secure_boot: boolean | null;
  memory_bytes: number;
  cpus: number;
  disk_bytes: number | null;
  disk: string | null;
  parent_disk: string | null;
  iso: string | null;
  switch: string | null;
  network: boolean;
  tpm: boolean;
}
