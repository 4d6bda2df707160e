/** The numbers of a test run, read from the JUnit report that `deno test --junit-path` writes. */

/** Tests and steps by outcome. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts a report. Steps count as tests; Deno 2.9.6 counts ignored ones as `disabled`, and in `tests` as well. */
export function readCounts(report: string): { counts: Counts; skipped: string[] } {
  const suites = [...report.matchAll(/<testsuite (?<attributes>[^>]*)>/g)].map(({ groups }) =>
    groups?.attributes ?? ""
  );
  const sum = (name: string): number =>
    suites.reduce((total, attributes) => total + numberOf(attributes, name), 0);
  const failed = sum("failures") + sum("errors");
  const skipped = sum("disabled");
  const names = [...report.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped\/>/g)]
    .map(([, name]) => unescapeXml(name ?? ""));
  return { counts: { passed: sum("tests") - failed - skipped, failed, skipped }, skipped: names };
}

function numberOf(attributes: string, name: string): number {
  const [, digits] = new RegExp(`\\b${name}="(\\d+)"`).exec(attributes) ?? [];
  return Number(digits ?? 0);
}

function unescapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (entity, name: string) => names[name] ?? entity)
    .replace(
      /&#(x?)([0-9a-fA-F]+);/g,
      (_, hex, digits) => String.fromCodePoint(parseInt(digits, hex ? 16 : 10)),
    );
}
