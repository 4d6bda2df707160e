/** What QEMU is told of network cards and of what they are plugged into. Pure. */

/**
 * What a network card is plugged into: the network behind the host, a segment that only VMs are on, or a tap device that
 * the policy names.
 */
export type NicLink =
  | { kind: "user" }
  | { kind: "segment"; group: string; port: number }
  | { kind: "tap"; name: string };

/** A network card. */
export interface NicPlan {
  number: number;
  /** QEMU's own standard one when left out. */
  mac?: string;
  /** The root port that it is plugged into; without one it cannot be unplugged. */
  slot?: string;
  /** Without one it is plugged into nothing. */
  link?: NicLink;
}

/** A network device as QEMU is told of it, on the command line and while it runs. */
export type Netdev = { type: string } & Record<string, string | number>;

/** A card that may be plugged into something else while its machine runs hangs on a hub, whose other end is changed. */
export function nicArguments(plan: NicPlan): string[] {
  const { number, link } = plan;
  const { driver, ...properties } = nicDevice(plan);
  const card = ["-device", optionsOf(driver, properties)];
  if (isFixedNic(plan)) return ["-netdev", `user,id=net-${number}`, ...card];
  const { type, ...port } = hubPort(number);
  const links = link === undefined ? [] : linkNetdevs(number, link);
  return [
    ...["-netdev", optionsOf(type, port)],
    ...card,
    ...links.flatMap(({ type: kind, ...options }) => ["-netdev", optionsOf(kind, options)]),
  ];
}

/** Whether a card is the one that every VM has unless told otherwise, which hangs on the host's network directly. */
function isFixedNic({ number, mac, link }: NicPlan): boolean {
  return number === 0 && mac === undefined && link?.kind === "user";
}

/** A card's device as QEMU is told of it, on the command line and while it runs. */
export function nicDevice({ number, mac, slot }: NicPlan): { driver: string } & Record<string, string> {
  return {
    driver: "virtio-net-pci",
    id: `nic-${number}`,
    netdev: `net-${number}`,
    ...(mac === undefined ? {} : { mac }),
    // Without an address QEMU would put it behind a device that the port has already, where no guest looks.
    ...(slot === undefined ? {} : { bus: slot, addr: "0" }),
    // No boot over the network: without its ROM the firmware does not try.
    romfile: "",
  };
}

/** The end of a card's hub that the card is on. */
export function hubPort(number: number): Netdev {
  return { type: "hubport", id: `net-${number}`, hubid: number };
}

/** What plugs a card's hub into something, in this order. */
export function linkNetdevs(number: number, link: NicLink): Netdev[] {
  const id = `link-${number}`;
  return [
    { id, ...linkOptions(link) },
    { type: "hubport", id: `plug-${number}`, hubid: number, netdev: id },
  ];
}

function optionsOf(type: string, options: Readonly<Record<string, string | number>>): string {
  return [type, ...Object.entries(options).map(([key, value]) => `${key}=${value}`)].join(",");
}

function linkOptions(link: NicLink): Netdev {
  switch (link.kind) {
    case "user":
      return { type: "user" };
    case "segment":
      // Packets stay on the loopback interface: they reach no network of the host.
      return { type: "socket", mcast: `${link.group}:${link.port}`, localaddr: "127.0.0.1" };
    case "tap":
      // The device is there already; no script of the host is run.
      return { type: "tap", ifname: link.name, script: "no", downscript: "no" };
  }
}
