/** The mark that hvlab leaves in the notes of a switch that it made. */

/** What the mark says. */
export interface SwitchMark {
  created_at: string;
  /** The network behind the host that the switch leads to. */
  nat?: string;
}

const MARK = /\[hvlab;([^\]]*)\]/;

/** Writes the mark. */
export function writeSwitchMark({ created_at, nat }: SwitchMark): string {
  return `[hvlab;created=${created_at};${nat === undefined ? "" : `nat=${nat};`}]`;
}

/** Finds the mark in a switch's notes; `undefined` when hvlab did not make it. */
export function readSwitchMark(notes: string): SwitchMark | undefined {
  const [, text] = MARK.exec(notes) ?? [];
  if (text === undefined) return undefined;
  const [, created_at = ""] = /(?:^|;)created=([^;]*);/.exec(text) ?? [];
  const [, nat] = /(?:^|;)nat=([\d./]+);/.exec(text) ?? [];
  return { created_at, ...(nat === undefined ? {} : { nat }) };
}
