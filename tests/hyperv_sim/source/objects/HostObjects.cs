using System;
using System.Collections.Generic;
using HvlabSimulation;

namespace Microsoft.HyperV.PowerShell
{
    public partial class VMHost
    {
        internal static VMHost Current()
        {
            return new VMHost { Find = delegate { return World.Current.Document("host"); } };
        }

        internal override object Member(string name)
        {
            Node host = Source;
            switch (name)
            {
                case "FullyQualifiedDomainName": return host.Text("Name");
                case "SupportedVmVersions": return HostVersions.All(host);
                case "SecureBootTemplates": return Templates();
                case "ResourceMeteringSaveInterval": return TimeSpan.FromHours(1);
                case "EnableEnhancedSessionMode":
                case "NumaSpanningEnabled":
                case "UseAnyNetworkForMigration": return !host.Has(name) || host.Flag(name);
                case "MaximumStorageMigrations":
                case "MaximumVirtualMachineMigrations": return host.Number(name, 2);
                case "VirtualMachineMigrationPerformanceOption": return "Compression";
                case "InternalNetworkAdapters": return Switching.HostAdapters();
                default: return base.Member(name);
            }
        }

        private static List<object> Templates()
        {
            List<object> templates = new List<object>();
            foreach (KeyValuePair<string, string> template in Boot.Templates)
            {
                templates.Add(new SecureBootTemplate { Name = template.Key, Id = new Guid(template.Value), Description = template.Key });
            }
            return templates;
        }

        public override string ToString() { return "VMHost (Name = '" + Name + "')"; }
    }

    public partial class VMSwitch
    {
        internal static VMSwitch Of(Node node)
        {
            string id = node.Text("Id");
            return new VMSwitch { Find = delegate { return World.Current.Document("switches").Find("Switches", "Id", id); } };
        }

        internal override object Member(string name)
        {
            switch (name)
            {
                case "AllowManagementOS": return Source.Text("SwitchType") != "Private";
                case "BandwidthReservationMode": return Source.Has(name) ? Source.Get(name) : "Absolute";
                case "BandwidthPercentage": return 10;
                case "DefaultFlowMinimumBandwidthAbsolute": return 1000000000;
                case "SoftwareRscEnabled": return true;
                case "DefaultQueueVrssQueueSchedulingMode":
                case "DefaultQueueVrssQueueSchedulingModeRequested": return "StaticVrss";
                default: return base.Member(name);
            }
        }

        public override string ToString() { return "VMSwitch (Name = '" + Name + "') [Id = '" + Id + "']"; }
    }

    public partial class VMHostSupportedVersion
    {
        internal override object Member(string name) { return Source.Get(name); }
    }

    public partial class VMPartitionableGpu
    {
        internal static List<VMPartitionableGpu> All()
        {
            List<VMPartitionableGpu> all = new List<VMPartitionableGpu>();
            foreach (Node node in World.Current.Document("host").Nodes("PartitionableGpus"))
            {
                Node gpu = node;
                all.Add(new VMPartitionableGpu { Find = delegate { return gpu; } });
            }
            return all;
        }
    }
}

namespace HvlabSimulation
{
    /// <summary>Configuration versions that each generation of Windows Server knows; the last is the default.</summary>
    internal static class HostVersions
    {
        public static List<object> All(Node host)
        {
            List<object> versions = new List<object> { "8.0" };
            int generation = (int)host.Number("Generation");
            if (generation >= 2019) versions.Add("9.0");
            if (generation >= 2022) versions.Add("10.0");
            if (generation >= 2025) { versions.Add("11.0"); versions.Add("12.0"); }
            return versions;
        }

        public static string Default(Node host)
        {
            List<object> versions = All(host);
            return (string)versions[versions.Count - 1];
        }
    }
}
