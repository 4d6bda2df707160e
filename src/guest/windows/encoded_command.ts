/** PowerShell with a script that is no file: as its last argument, in the encoding that it wants. */

/**
 * The argument vector with which a PowerShell of either kind runs a script. Without the plain form of output, one that
 * is given its script so writes errors as CLIXML wherever they do not go to a console (seen with 7.6.9).
 */
export function encodedCommand(program: "powershell.exe" | "pwsh", script: string): string[] {
  return [
    ...[program, "-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text"],
    ...["-EncodedCommand", encode(script)],
  ];
}

/** UTF-16, little endian, in base64. */
function encode(script: string): string {
  const bytes = new Uint8Array(script.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < script.length; at++) view.setUint16(at * 2, script.charCodeAt(at), true);
  return bytes.toBase64();
}
