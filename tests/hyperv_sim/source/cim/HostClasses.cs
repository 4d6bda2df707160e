using System;
using System.Collections.Generic;

namespace HvlabSimulation
{
    /// <summary>Classes of root/cimv2 that say what kind of host this is.</summary>
    internal static class HostClasses
    {
        public static List<CimRecord> List(string cimNamespace, string className)
        {
            Node host = World.Current.Document("host");
            List<Node> nodes = new List<Node>();
            string build = Build(host);
            switch (cimNamespace + ":" + className.ToLowerInvariant())
            {
                case "root/cimv2:win32_computersystem":
                    nodes.Add(new Node().With("Name", host.Text("Name")).With("DNSHostName", host.Text("Name")).With("Domain", "WORKGROUP").With("PartOfDomain", false)
                        .With("HypervisorPresent", !host.Has("HypervisorPresent") || host.Flag("HypervisorPresent")).With("Manufacturer", "hvlab").With("Model", "Simulated host")
                        .With("NumberOfLogicalProcessors", (uint)host.Number("LogicalProcessorCount")).With("NumberOfProcessors", 1u).With("TotalPhysicalMemory", (ulong)host.Number("MemoryCapacity")));
                    break;
                case "root/cimv2:win32_operatingsystem":
                    bool client = host.Flag("ClientEdition");
                    nodes.Add(new Node().With("Caption", client ? "Microsoft Windows 11 Pro" : "Microsoft Windows Server " + host.Text("Generation") + " Standard").With("Version", "10.0." + build).With("BuildNumber", build)
                        .With("OperatingSystemSKU", client ? 48u : 7u).With("ProductType", client ? 1u : 3u).With("OSArchitecture", "64-bit").With("OSLanguage", 1033u)
                        .With("TotalVisibleMemorySize", (ulong)(host.Number("MemoryCapacity") / 1024)).With("FreePhysicalMemory", (ulong)(FreeMemory(host) / 1024)).With("LastBootUpTime", DateTime.UtcNow.Date));
                    break;
                case "root/cimv2:win32_processor":
                    nodes.Add(new Node().With("Name", "Simulated processor").With("NumberOfCores", (uint)(host.Number("LogicalProcessorCount") / 2)).With("NumberOfLogicalProcessors", (uint)host.Number("LogicalProcessorCount"))
                        .With("VirtualizationFirmwareEnabled", false).With("SecondLevelAddressTranslationExtensions", false).With("VMMonitorModeExtensions", false).With("LoadPercentage", (ushort)7).With("Architecture", (ushort)9));
                    break;
                case "root/cimv2:win32_service":
                    nodes.Add(new Node().With("Name", "vmms").With("State", Faults.Settings.Text("service") == "stopped" ? "Stopped" : "Running").With("StartMode", "Auto"));
                    break;
                case "root/cimv2:win32_optionalfeature":
                    foreach (string feature in new[] { "Microsoft-Hyper-V-All", "Microsoft-Hyper-V", "Microsoft-Hyper-V-Management-PowerShell" }) nodes.Add(new Node().With("Name", feature).With("InstallState", 1u));
                    break;
                case "root/cimv2:win32_logicaldisk":
                    nodes.Add(new Node().With("DeviceID", "C:").With("DriveType", 3u).With("FileSystem", "NTFS").With("Size", 536870912000UL).With("FreeSpace", 214748364800UL));
                    break;
                default:
                    return null;
            }
            List<CimRecord> records = new List<CimRecord>();
            foreach (Node node in nodes) records.Add(new CimRecord(cimNamespace, className, node.Text("Name"), "", node));
            return records;
        }

        /// <summary>The build number of a generation.</summary>
        public static string Build(Node host)
        {
            switch (host.Text("Generation"))
            {
                case "2016": return "14393";
                case "2019": return "17763";
                case "2022": return "20348";
                default: return "26100";
            }
        }

        private static long FreeMemory(Node host)
        {
            long free = host.Number("MemoryCapacity") - 4294967296L;
            foreach (Node machine in Machine.All()) if (Machine.Runs(machine)) free -= machine.Child("Settings").Child("Memory").Number("Startup");
            return Math.Max(0, free);
        }
    }
}
