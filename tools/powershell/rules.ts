/**
 * What the sidecar's scripts may use: the language, cmdlets and .NET types of Windows PowerShell 5.1. Everything is refused that
 * does not stand here, so that something new is looked up before it is used.
 */

import type { Script } from "./scripts.ts";

/** Cmdlets of 5.1 itself and of Windows' network modules, with the parameters that the scripts use. All take the common ones. */
const CMDLETS: Readonly<Record<string, readonly string[]>> = {
  "Add-Type": ["TypeDefinition"],
  "Add-NetNatStaticMapping": [
    ...["NatName", "Protocol", "ExternalIPAddress", "ExternalPort", "InternalIPAddress", "InternalPort"],
  ],
  "ConvertFrom-Json": ["InputObject"],
  "ConvertTo-Json": ["InputObject", "Depth", "Compress"],
  "ForEach-Object": [],
  "Get-CimAssociatedInstance": ["InputObject", "ResultClassName", "Association"],
  "Get-CimInstance": ["Namespace", "ClassName", "Filter"],
  "Get-Command": ["Name", "Module"],
  "Get-FileHash": ["LiteralPath", "Algorithm"],
  "Get-Item": ["LiteralPath", "Force"],
  "Get-ItemProperty": ["Path"],
  "Get-Module": ["Name"],
  "Get-NetIPAddress": [],
  "Get-NetNat": [],
  "Get-NetNatStaticMapping": [],
  "Get-Service": ["Name"],
  "Group-Object": [],
  "Import-Module": ["Name", "Global"],
  "Invoke-Command": ["Session", "ScriptBlock", "ArgumentList"],
  "Invoke-CimMethod": ["InputObject", "MethodName", "Arguments"],
  "New-NetIPAddress": ["IPAddress", "PrefixLength", "InterfaceAlias"],
  "New-NetNat": ["Name", "InternalIPInterfaceAddressPrefix"],
  "New-Object": [],
  "New-PSSession": ["VMId", "Credential"],
  "Out-Null": [],
  "Remove-NetIPAddress": ["IPAddress"],
  "Remove-NetNat": ["Name"],
  "Remove-NetNatStaticMapping": ["StaticMappingID"],
  "Remove-PSSession": ["Session"],
  "Select-Object": ["First", "Skip", "Unique"],
  "Sort-Object": ["Unique"],
  "Start-Sleep": ["Milliseconds"],
  "Where-Object": [],
  "Write-Progress": ["Activity", "Status", "PercentComplete"],
  "Write-Verbose": [],
  "taskkill.exe": [],
  "whoami.exe": [],
};

const COMMON = ["ErrorAction", "ErrorVariable", "WarningAction", "Confirm", "Verbose"];

/** Static members of .NET Framework 4.5, by type as written. */
const STATICS: Readonly<Record<string, readonly string[]>> = {
  "Array": ["Clear", "Copy", "IndexOf", "Reverse"],
  "BitConverter": ["GetBytes", "ToString"],
  "DateTime": ["SpecifyKind"],
  "double": ["NaN"],
  "Enum": ["GetNames", "Parse"],
  "AppDomain": ["CurrentDomain"],
  "Console": [
    "Error",
    "InputEncoding",
    "OpenStandardError",
    "OpenStandardInput",
    "OpenStandardOutput",
    "Out",
    "OutputEncoding",
    "SetOut",
  ],
  "Convert": ["FromBase64String", "ToBase64String", "ToInt64", "ToString"],
  "Diagnostics.Process": ["Start"],
  "Diagnostics.Stopwatch": ["StartNew"],
  "Environment": [
    "Exit",
    "GetEnvironmentVariable",
    "GetFolderPath",
    "MachineName",
    "SetEnvironmentVariable",
    "UserName",
  ],
  "Globalization.CultureInfo": ["CurrentUICulture", "InvariantCulture"],
  "Guid": ["NewGuid"],
  "hashtable": ["Synchronized"],
  "HvlabCredentials": ["Delete", "Read", "Write"],
  "IO.Directory": [
    "CreateDirectory",
    "Delete",
    "Exists",
    "GetCreationTimeUtc",
    "GetDirectories",
    "GetFiles",
    "GetLastWriteTimeUtc",
    "Move",
    "SetLastWriteTimeUtc",
  ],
  "IO.File": [
    "Delete",
    "Exists",
    "Move",
    "Open",
    "OpenRead",
    "Replace",
    "SetLastWriteTimeUtc",
    "WriteAllText",
  ],
  "IO.FileAttributes": ["ReparsePoint"],
  "IO.Path": [
    "Combine",
    "DirectorySeparatorChar",
    "GetDirectoryName",
    "GetExtension",
    "GetFileName",
    "GetFullPath",
    "GetTempPath",
    "IsPathRooted",
    "PathSeparator",
  ],
  "IO.Stream": ["Synchronized"],
  "IO.StreamReader": ["new"],
  "Linq.Enumerable": ["Sum"],
  "Management.Automation.Runspaces.RunspaceFactory": ["CreateRunspace"],
  "Math": ["Floor", "Max", "Min"],
  "NullString": ["Value"],
  "PowerShell": ["Create"],
  "regex": ["Replace"],
  "scriptblock": ["Create"],
  "Security.Cryptography.SHA256": ["Create"],
  "StringComparison": ["OrdinalIgnoreCase"],
  "Text.Encoding": ["ASCII", "UTF8"],
  "Text.UTF8Encoding": ["new"],
  "Threading.Monitor": ["Enter", "Exit", "TryEnter"],
};

/** Automatic variables that only newer versions have. */
const NEWER_VARIABLES = [
  "IsWindows",
  "IsLinux",
  "IsMacOS",
  "IsCoreCLR",
  "PSStyle",
  "EnabledExperimentalFeatures",
];

/** Members of objects that .NET Framework lacks, or that it has with fewer arguments. */
const NEWER_MEMBERS = [
  "ReadExactly",
  "ToHexString",
  "EndsWithOrdinal",
  "WaitAsync",
  "ReplaceLineEndings",
  "TrimEntries",
];

/** Variables that the host itself reads or writes. `$input` makes PowerShell take all of standard input. */
const FORBIDDEN_VARIABLES = ["input"];

const HYPER_V = "Hyper-V\\";

/** Complaints about scripts that belong together, as `file:line: what`. */
export function complaintsAbout(scripts: readonly Script[]): string[] {
  const own = new Set(
    scripts.flatMap((script) => script.functions.map((name) => lower(name.replace(/^global:/, "")))),
  );
  return scripts.flatMap((script) => {
    const complaints: string[] = [];
    const complain = (line: number, what: string): void => {
      complaints.push(`${script.path.split(/[\\/]/).at(-1)}:${line}: ${what}`);
    };
    for (const { what, line } of script.errors) complain(line, what);
    for (const { what, line } of script.newer) complain(line, `${what} is newer than 5.1`);
    for (const { name, line } of script.variables) {
      if (has(NEWER_VARIABLES, name)) complain(line, `the variable $${name} is newer than 5.1`);
      if (has(FORBIDDEN_VARIABLES, name)) complain(line, `the variable $${name} takes standard input away`);
    }
    for (const { type, member, line } of script.statics) {
      const known = Object.entries(STATICS).find(([name]) => lower(name) === lower(type))?.[1] ?? [];
      if (!has(known, member)) complain(line, `[${type}]::${member} is not known to be in .NET Framework`);
    }
    for (const { member, line } of script.members) {
      if (has(NEWER_MEMBERS, member)) complain(line, `the member ${member} is newer than .NET Framework`);
    }
    for (const { name, parameters, line } of script.commands) {
      if (name === "" || name.startsWith(HYPER_V) || own.has(lower(name))) continue;
      const known = Object.entries(CMDLETS).find(([cmdlet]) => lower(cmdlet) === lower(name))?.[1];
      if (known === undefined) {
        complain(line, `the command ${name} is neither ours nor known to be in 5.1`);
        continue;
      }
      for (const parameter of parameters) {
        if (!has([...known, ...COMMON], parameter)) {
          complain(line, `${name} -${parameter} is not known to be in 5.1`);
        }
      }
    }
    return complaints;
  });
}

/** A cmdlet of Hyper-V as a script calls it. */
export interface HyperVCall {
  cmdlet: string;
  parameters: string[];
  place: string;
}

/** The Hyper-V cmdlets that the scripts call, each with the parameters of that call. */
export function hyperVCalls(scripts: readonly Script[]): HyperVCall[] {
  return scripts.flatMap(({ path, commands }) =>
    commands.filter(({ name }) => name.startsWith(HYPER_V)).map(({ name, parameters, splats, line }) => ({
      cmdlet: name.slice(HYPER_V.length),
      // What Get-Server gives: the one thing that is splatted from another function.
      parameters: [...parameters, ...(splats.includes("server") ? ["ComputerName"] : [])]
        .filter((parameter) => !has(COMMON, parameter)),
      place: `${path.split(/[\\/]/).at(-1)}:${line}`,
    }))
  );
}

/** Parameters that the scripts use only where the host's cmdlet has them, as `CMDLET -PARAMETER`. */
export function optionalParameters(scripts: readonly Script[]): Set<string> {
  return new Set(
    scripts.flatMap(({ commands }) =>
      commands.filter(({ name }) => name === "Test-Parameter").map(({ values }) =>
        `${values[0]} -${values[1]}`
      )
    ),
  );
}

/** Cmdlets that the scripts use only where the host has them. */
export function optionalCmdlets(scripts: readonly Script[]): Set<string> {
  return new Set(
    scripts.flatMap(({ commands }) =>
      commands.filter(({ name }) => name === "Test-Cmdlet").flatMap(({ values }) => values[0] ?? [])
    ),
  );
}

function has(words: readonly string[], word: string): boolean {
  return words.some((known) => lower(known) === lower(word));
}

function lower(text: string): string {
  return text.toLowerCase();
}
