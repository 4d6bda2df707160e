/** Windows versions by build number. */

/** Build, version in front of it, client name, server name; null where there was no such edition. */
const BUILDS: ReadonlyMap<number, readonly [version: string, client: string | null, server: string | null]> =
  new Map([
    [2195, ["5.0", "Windows 2000", "Windows 2000 Server"]],
    [2600, ["5.1", "Windows XP", null]],
    [3790, ["5.2", "Windows XP x64", "Windows Server 2003"]],
    [6000, ["6.0", "Windows Vista", null]],
    [6001, ["6.0", "Windows Vista SP1", "Windows Server 2008"]],
    [6002, ["6.0", "Windows Vista SP2", "Windows Server 2008 SP2"]],
    [6003, ["6.0", "Windows Vista SP2", "Windows Server 2008 SP2"]],
    [7600, ["6.1", "Windows 7", "Windows Server 2008 R2"]],
    [7601, ["6.1", "Windows 7 SP1", "Windows Server 2008 R2 SP1"]],
    [9200, ["6.2", "Windows 8", "Windows Server 2012"]],
    [9600, ["6.3", "Windows 8.1", "Windows Server 2012 R2"]],
    [10240, ["10.0", "Windows 10 1507", null]],
    [10586, ["10.0", "Windows 10 1511", null]],
    [14393, ["10.0", "Windows 10 1607", "Windows Server 2016"]],
    [15063, ["10.0", "Windows 10 1703", null]],
    [16299, ["10.0", "Windows 10 1709", "Windows Server 1709"]],
    [17134, ["10.0", "Windows 10 1803", "Windows Server 1803"]],
    [17763, ["10.0", "Windows 10 1809", "Windows Server 2019"]],
    [18362, ["10.0", "Windows 10 1903", "Windows Server 1903"]],
    [18363, ["10.0", "Windows 10 1909", "Windows Server 1909"]],
    [19041, ["10.0", "Windows 10 2004", "Windows Server 2004"]],
    [19042, ["10.0", "Windows 10 20H2", "Windows Server 20H2"]],
    [19043, ["10.0", "Windows 10 21H1", null]],
    [19044, ["10.0", "Windows 10 21H2", null]],
    [19045, ["10.0", "Windows 10 22H2", null]],
    [20348, ["10.0", null, "Windows Server 2022"]],
    [22000, ["10.0", "Windows 11 21H2", null]],
    [22621, ["10.0", "Windows 11 22H2", null]],
    [22631, ["10.0", "Windows 11 23H2", null]],
    [25398, ["10.0", null, "Windows Server 23H2"]],
    [26100, ["10.0", "Windows 11 24H2", "Windows Server 2025"]],
    [26200, ["10.0", "Windows 11 25H2", null]],
  ]);

const FIRST_WINDOWS_10 = 10240;

/** Build number of a header's MinorVersion: its low 16 bits. */
export function buildNumber(minorVersion: number | null): number | null {
  return minorVersion === null ? null : minorVersion & 0xFFFF;
}

/** `10.0.19045`; only the number for a build between releases before Windows 10. The revision is not in a header. */
export function windowsVersion(build: number | null): string | null {
  if (build === null) return null;
  const version = BUILDS.get(build)?.[0] ?? (build >= FIRST_WINDOWS_10 ? "10.0" : null);
  return version === null ? String(build) : `${version}.${build}`;
}

/**
 * Product name of a build, the server's when `product` is a server's. Null for unknown builds. Without a known
 * product, and where both editions share a build, both names are given.
 */
export function windowsName(build: number | null, product: string | null): string | null {
  const row = build === null ? undefined : BUILDS.get(build);
  if (row === undefined) return null;
  const [, client, server] = row;
  if (product === "server" || product === "domain_controller") return server ?? client;
  if (product === "workstation") return client ?? server;
  return client !== null && server !== null ? `${client} or ${server}` : client ?? server;
}
