# Windows Credential Manager: passwords of guests, as generic credentials of this account. PowerShell has no cmdlets for it; the types are
# compiled when a password is first stored or read. The source keeps to C# 5, which Windows PowerShell 5.1 compiles.

$script:CredentialSource = @'
using System;
using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.ComTypes;
using System.Text;

public static class HvlabCredentials
{
    private const uint Generic = 1;
    private const uint LocalMachine = 2;
    private const int NotFound = 1168;
    private const int MostBytes = 2560;

    [StructLayout(LayoutKind.Sequential, CharSet = CharSet.Unicode)]
    private struct Credential
    {
        public uint Flags;
        public uint Type;
        public string TargetName;
        public string Comment;
        public FILETIME LastWritten;
        public uint CredentialBlobSize;
        public IntPtr CredentialBlob;
        public uint Persist;
        public uint AttributeCount;
        public IntPtr Attributes;
        public string TargetAlias;
        public string UserName;
    }

    [DllImport("advapi32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
    private static extern bool CredWriteW(ref Credential credential, uint flags);

    [DllImport("advapi32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
    private static extern bool CredReadW(string target, uint type, uint flags, out IntPtr credential);

    [DllImport("advapi32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
    private static extern bool CredDeleteW(string target, uint type, uint flags);

    [DllImport("advapi32.dll")]
    private static extern void CredFree(IntPtr credential);

    public static void Write(string target, string user, string secret)
    {
        byte[] bytes = Encoding.Unicode.GetBytes(secret);
        IntPtr blob = Marshal.AllocHGlobal(bytes.Length);
        try
        {
            if (bytes.Length > MostBytes) throw new ArgumentException("The password is longer than 1280 characters");
            Marshal.Copy(bytes, 0, blob, bytes.Length);
            Credential credential = new Credential();
            credential.Type = Generic;
            credential.TargetName = target;
            credential.UserName = user;
            credential.Comment = "hvlab: login of a guest";
            credential.CredentialBlob = blob;
            credential.CredentialBlobSize = (uint)bytes.Length;
            credential.Persist = LocalMachine;
            if (!CredWriteW(ref credential, 0)) throw new Win32Exception(Marshal.GetLastWin32Error());
        }
        finally
        {
            for (int at = 0; at < bytes.Length; at++) Marshal.WriteByte(blob, at, 0);
            Array.Clear(bytes, 0, bytes.Length);
            Marshal.FreeHGlobal(blob);
        }
    }

    // Nothing where there is no such credential.
    public static string Read(string target)
    {
        IntPtr found;
        if (!CredReadW(target, Generic, 0, out found))
        {
            int error = Marshal.GetLastWin32Error();
            if (error == NotFound) return null;
            throw new Win32Exception(error);
        }
        try
        {
            Credential credential = (Credential)Marshal.PtrToStructure(found, typeof(Credential));
            return Marshal.PtrToStringUni(credential.CredentialBlob, (int)credential.CredentialBlobSize / 2);
        }
        finally
        {
            CredFree(found);
        }
    }

    // True when there was one.
    public static bool Delete(string target)
    {
        if (CredDeleteW(target, Generic, 0)) return true;
        int error = Marshal.GetLastWin32Error();
        if (error == NotFound) return false;
        throw new Win32Exception(error);
    }
}
'@

# Runs work with the store. Its failures name Windows' own number, and never what was to be stored.
function Use-SecretStore([scriptblock] $work) {
    try {
        [Threading.Monitor]::Enter($global:HvlabShared.SyncRoot)
        try { if (-not ('HvlabCredentials' -as [type])) { Add-Type -TypeDefinition $script:CredentialSource } }
        finally { [Threading.Monitor]::Exit($global:HvlabShared.SyncRoot) }
        & $work
    }
    catch {
        for ($cause = $_.Exception; $cause.InnerException; $cause = $cause.InnerException) { }
        $number = 0
        if ($cause -is [ComponentModel.Win32Exception]) { $number = $cause.NativeErrorCode }
        Stop-Operation 'hv.unavailable' "Windows Credential Manager does not answer: $($cause.Message)" 'Set HVLAB_GUEST_USER and HVLAB_GUEST_PASSWORD where hvlab is started' @{ windows_error = $number }
    }
}

function Write-Secret([string] $target, [string] $user, [string] $secret) {
    Use-SecretStore {
        [HvlabCredentials]::Write($target, $user, $secret)
        @{ stored = [HvlabCredentials]::Read($target) -ceq $secret }
    }
}

function Read-Secret([string] $target) {
    Use-SecretStore { @{ secret = [HvlabCredentials]::Read($target) } }
}

function Remove-Secret([string] $target) {
    Use-SecretStore { @{ removed = [HvlabCredentials]::Delete($target) } }
}
