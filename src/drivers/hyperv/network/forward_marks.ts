/** The mark in a VM's notes that says which ports of the host lead to it: NAT itself knows addresses only. */

/** A forward as the notes keep it. */
export interface MarkedForward {
  guest_port: number;
  host_address: string;
  host_port: number;
  /** The guest's address that the port leads to. */
  address: string;
  auto: boolean;
}

const MARK = /\s*\[hvlab-forwards;([^\]]*)\]/;
const ENTRY = /^([\d.]+):(\d+)>([\d.]+):(\d+)(,auto)?$/;

/** Finds the forwards in a VM's notes. What cannot be read is none of ours. */
export function readForwards(notes: string): MarkedForward[] {
  const [, text = ""] = MARK.exec(notes) ?? [];
  return text.split(";").flatMap((entry) => {
    const [, host_address, host, address, guest, auto] = ENTRY.exec(entry) ?? [];
    if (host_address === undefined || address === undefined) return [];
    return [{
      guest_port: Number(guest),
      host_address,
      host_port: Number(host),
      address,
      auto: auto !== undefined,
    }];
  });
}

/** The notes with these forwards in the place of all others. */
export function writeForwards(notes: string, forwards: readonly MarkedForward[]): string {
  const plain = notes.replace(MARK, "");
  if (forwards.length === 0) return plain;
  const entries = forwards.map(({ guest_port, host_address, host_port, address, auto }) =>
    `${host_address}:${host_port}>${address}:${guest_port}${auto ? ",auto" : ""}`
  );
  return `${plain}${plain === "" ? "" : " "}[hvlab-forwards;${entries.join(";")};]`;
}
