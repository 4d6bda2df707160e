using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Text;

namespace HvlabSimulation
{
    /// <summary>The guest end: real child processes, one folder per machine as the guest's disk, `sessions` with their ids.</summary>
    internal static class GuestProcesses
    {
        public static string FolderOf(Node machine)
        {
            string folder = World.Current.PathOf("guests", machine.Text("Id"));
            Directory.CreateDirectory(Path.Combine(folder, "sessions"));
            Directory.CreateDirectory(Path.Combine(folder, "disk"));
            return folder;
        }

        /// <summary>Where a path of the guest lies here: absolute ones of this system as they are, drives below the guest's disk.</summary>
        public static string PathIn(Node machine, string path)
        {
            if (path.Length > 1 && path[1] == ':') return Path.Combine(FolderOf(machine), "disk", path.Substring(2).Replace('\\', '/').TrimStart('/'));
            return Path.IsPathRooted(path) ? path : Path.Combine(FolderOf(machine), "disk", path);
        }

        /// <summary>A folder of programs that every Windows has and this system may not: powershell.exe, which is the given shell.</summary>
        public static string ProgramsOf(Node machine, string shell)
        {
            string folder = Path.Combine(FolderOf(machine), "programs");
            string program = Path.Combine(folder, "powershell.exe");
            if (Path.DirectorySeparatorChar == '\\' || File.Exists(program)) return folder;
            Directory.CreateDirectory(folder);
            File.WriteAllText(program, "#!/bin/sh\nexec '" + shell + "' \"$@\"\n");
            using (Process mode = Process.Start("chmod", "755 " + program)) mode.WaitForExit();
            return folder;
        }

        public static void Remember(Node machine, int process)
        {
            File.WriteAllText(Path.Combine(FolderOf(machine), "sessions", process.ToString()), "");
        }

        /// <summary>Ends every process of a guest, as power off does.</summary>
        public static void End(Node machine)
        {
            string folder = World.Current.PathOf("guests", machine.Text("Id"), "sessions");
            if (!Directory.Exists(folder)) return;
            foreach (string file in Directory.GetFiles(folder))
            {
                End(int.Parse(Path.GetFileName(file)));
                File.Delete(file);
            }
        }

        private static void End(int id)
        {
            try
            {
                Process process = Process.GetProcessById(id);
                string name = process.ProcessName;
                if (name.StartsWith("pwsh", StringComparison.OrdinalIgnoreCase) || name.StartsWith("powershell", StringComparison.OrdinalIgnoreCase) || name == "dotnet")
                {
                    process.Kill();
                    process.WaitForExit(2000);
                }
            }
            catch (ArgumentException) { }
            catch (InvalidOperationException) { }
        }

        /// <summary>What a guest writes when an NMI crashes it: a file with the signature of a 64-bit kernel dump.</summary>
        public static void WriteDump(Node machine)
        {
            string path = PathIn(machine, "C:\\Windows\\MEMORY.DMP");
            Directory.CreateDirectory(Path.GetDirectoryName(path));
            byte[] bytes = new byte[8192];
            Encoding.ASCII.GetBytes("PAGEDU64").CopyTo(bytes, 0);
            BitConverter.GetBytes(0x80).CopyTo(bytes, 0x38);
            File.WriteAllBytes(path, bytes);
        }

        /// <summary>What the guest tells over KVP: names and values.</summary>
        public static Dictionary<string, string> Facts(Node machine)
        {
            bool linux = Machine.GuestOs(machine) == "linux";
            List<string> addresses = new List<string>();
            foreach (Node adapter in machine.Child("Settings").Nodes("NetworkAdapters"))
            {
                foreach (object address in Machine.Addresses(machine, adapter)) addresses.Add((string)address);
            }
            Dictionary<string, string> facts = new Dictionary<string, string>();
            facts["FullyQualifiedDomainName"] = HostName(machine);
            facts["OSName"] = linux ? "Debian GNU/Linux 12" : "Windows 11 Pro";
            facts["OSVersion"] = linux ? "6.1.0" : "10.0.26100";
            facts["OSMajorVersion"] = linux ? "6" : "10";
            facts["OSMinorVersion"] = linux ? "1" : "0";
            facts["OSBuildNumber"] = linux ? "0" : "26100";
            facts["ProcessorArchitecture"] = "9";
            facts["IntegrationServicesVersion"] = "10.0.26100.1";
            facts["NetworkAddressIPv4"] = string.Join(";", addresses.FindAll(delegate(string one) { return one.IndexOf(':') < 0; }).ToArray());
            facts["NetworkAddressIPv6"] = string.Join(";", addresses.FindAll(delegate(string one) { return one.IndexOf(':') >= 0; }).ToArray());
            return facts;
        }

        public static string HostName(Node machine)
        {
            StringBuilder name = new StringBuilder();
            foreach (char letter in machine.Text("Name").ToUpperInvariant()) if (char.IsLetterOrDigit(letter) && letter < 128 && name.Length < 15) name.Append(letter);
            return name.Length == 0 ? "GUEST" : name.ToString();
        }
    }
}
