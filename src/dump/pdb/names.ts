/** Names as the linker keeps them, made readable without a full undecorator. */

/** `_Name@8` of x86, which alone has such names, and the scope and name of a C++ symbol; other names stay as they are. */
export function readableName(name: string, isX86: boolean): string {
  const convention = /^[_@]([A-Za-z_$][\w$]*)@\d+$/.exec(name) ?? /^_([A-Za-z_$][\w$]*)$/.exec(name);
  if (isX86 && convention?.[1] !== undefined) return convention[1];
  if (!/^\?[A-Za-z_]/.test(name)) return name;
  const end = name.indexOf("@@");
  const parts = end < 0 ? [] : name.slice(1, end).split("@");
  return parts.length > 0 && parts.every((part) => /^[A-Za-z_]\w*$/.test(part))
    ? parts.reverse().join("::")
    : name;
}
