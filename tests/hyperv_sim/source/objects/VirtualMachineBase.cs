using System;
using System.Collections.Generic;
using System.Management.Automation;
using HvlabSimulation;

namespace Microsoft.HyperV.PowerShell
{
    public abstract partial class VirtualMachineBase
    {
        /// <summary>The id of the machine, for a checkpoint that of the machine that it belongs to.</summary>
        internal Guid MachineId { get; set; }

        /// <summary>True for a machine that was compared and not taken in.</summary>
        internal bool IsPlanned { get; set; }

        internal Node MachineNode
        {
            get
            {
                Node node = MachineOrNull;
                if (node == null) throw Gone();
                return node;
            }
        }

        internal Node MachineOrNull
        {
            get
            {
                if (IsPlanned) return PlannedMachines.Find(MachineId);
                string document = Machine.DocumentOf(MachineId);
                return World.Current.Exists(document) ? World.Current.Document(document) : null;
            }
        }

        internal abstract Node SettingsOrNull { get; }

        internal Node Settings
        {
            get
            {
                Node settings = SettingsOrNull;
                if (settings == null) throw Gone();
                return settings;
            }
        }

        internal List<T> Parts<T>(string list) where T : VMComponentObject, new()
        {
            List<T> parts = new List<T>();
            foreach (Node item in Settings.Nodes(list)) parts.Add(VMComponentObject.Item<T>(this, list, item));
            return parts;
        }

        internal T Part<T>(string key) where T : VMComponentObject, new()
        {
            return VMComponentObject.Part<T>(this, delegate(Node settings) { return settings.Get(key) as Node; });
        }

        internal override object Member(string name)
        {
            Node settings = Settings;
            switch (name)
            {
                case "ComPorts": return Parts<VMComPort>("ComPorts");
                case "ComPort1": return Parts<VMComPort>("ComPorts")[0];
                case "ComPort2": return Parts<VMComPort>("ComPorts")[1];
                case "DVDDrives": return Parts<DvdDrive>("DVDDrives");
                case "HardDrives": return Parts<HardDiskDrive>("HardDrives");
                case "NetworkAdapters": return Parts<VMNetworkAdapter>("NetworkAdapters");
                case "VMIntegrationService": return Parts<VMIntegrationComponent>("Services");
                case "FloppyDrive": return settings.Number("Generation") == 1 ? Part<VMFloppyDiskDrive>("FloppyDrive") : null;
                case "DynamicMemoryEnabled": return settings.Child("Memory").Flag("DynamicMemoryEnabled");
                case "MemoryMaximum": return settings.Child("Memory").Number("Maximum");
                case "MemoryMinimum": return settings.Child("Memory").Number("Minimum");
                case "MemoryStartup": return settings.Child("Memory").Number("Startup");
                case "ProcessorCount": return settings.Child("Processor").Number("Count");
                case "SizeOfSystemFiles": return settings.Number("SizeOfSystemFiles", 73728);
                default: return settings.Get(name);
            }
        }
    }

    public partial class VirtualMachine
    {
        internal static VirtualMachine Of(Guid id)
        {
            VirtualMachine machine = new VirtualMachine { MachineId = id };
            machine.Find = delegate { return machine.MachineOrNull; };
            return machine;
        }

        internal static VirtualMachine Of(Node node) { return Of(node.Id("Id")); }

        internal static VirtualMachine Planned(Guid id)
        {
            VirtualMachine machine = Of(id);
            machine.IsPlanned = true;
            return machine;
        }

        /// <summary>All machines whose name fits a pattern; a name without wildcards fits itself, in any case of letters.</summary>
        internal static List<VirtualMachine> Matching(string pattern)
        {
            List<VirtualMachine> found = new List<VirtualMachine>();
            if (Faults.HidesMachines) return found;
            WildcardPattern wildcard = new WildcardPattern(pattern, WildcardOptions.IgnoreCase);
            foreach (Node node in Machine.All())
            {
                if (wildcard.IsMatch(node.Text("Name"))) found.Add(Of(node));
            }
            return found;
        }

        internal override Node SettingsOrNull
        {
            get
            {
                Node machine = MachineOrNull;
                return machine == null ? null : machine.Get("Settings") as Node;
            }
        }

        internal override object Member(string name)
        {
            Node machine = MachineOrNull;
            if (machine == null) throw new VirtualizationException(Gone().Message);
            Node activity = Machine.Activity(machine);
            bool runs = Machine.Runs(machine);
            switch (name)
            {
                case "Id": return MachineId;
                case "Name": return machine.Text("Name");
                case "State": return Machine.State(machine);
                case "CreationTime": return machine.Get("Created");
                case "Uptime": return runs ? TimeSpan.FromTicks(Clock.Now - machine.Number("BootedAt")) : TimeSpan.Zero;
                case "CPUUsage": return runs ? machine.Number("CPUUsage") : 0;
                case "MemoryAssigned": return runs || Machine.State(machine) == "Paused" ? MemoryStartup : 0;
                case "MemoryDemand": return runs ? MemoryStartup * 66 / 100 / 2097152 * 2097152 : 0;
                case "MemoryStatus": return runs && DynamicMemoryEnabled ? Texts.Host("ok") : "";
                case "Heartbeat": return Machine.Heartbeat(machine);
                case "OperationalStatus": return StatusCodes(activity);
                case "PrimaryOperationalStatus": return "Ok";
                case "SecondaryOperationalStatus": return activity == null ? null : activity.Text("Status");
                case "StatusDescriptions": return StatusTexts(activity);
                case "PrimaryStatusDescription": return Texts.Host("operating");
                case "SecondaryStatusDescription": return activity == null ? null : Texts.Host(activity.Text("Text"));
                case "Status": return activity == null ? Texts.Host("operating") : Texts.Host(activity.Text("Text"));
                case "VirtualMachineType": return 3;
                case "VirtualMachineSubType": return Generation;
                case "NumaNodesCount":
                case "NumaSocketCount": return 1;
                case "NumaAligned": return runs ? (object)true : null;
                case "IntegrationServicesVersion": return Machine.GuestAnswers(machine) ? "10.0.26100.1" : "0.0";
                case "ResourceMeteringEnabled": return machine.Flag("ResourceMeteringEnabled");
                case "ParentSnapshotId": return machine.Has("CurrentCheckpoint") ? machine.Get("CurrentCheckpoint") : null;
                case "ParentSnapshotName":
                    Node parent = machine.Find("Checkpoints", "Id", machine.Text("CurrentCheckpoint"));
                    return parent == null ? null : parent.Text("Name");
                default: return base.Member(name);
            }
        }

        private static List<object> StatusCodes(Node activity)
        {
            List<object> codes = new List<object> { "Ok" };
            if (activity != null) codes.Add(activity.Text("Status"));
            return codes;
        }

        private static List<object> StatusTexts(Node activity)
        {
            List<object> texts = new List<object> { Texts.Host("operating") };
            if (activity != null) texts.Add(Texts.Host(activity.Text("Text")));
            return texts;
        }

        public override string ToString() { return "VirtualMachine (Name = '" + Name + "') [Id = '" + Id + "']"; }
    }

    public partial class VMSnapshot
    {
        internal Guid CheckpointId { get; set; }

        internal static VMSnapshot Of(Guid machineId, Guid checkpointId)
        {
            VMSnapshot checkpoint = new VMSnapshot { MachineId = machineId, CheckpointId = checkpointId };
            checkpoint.Find = delegate
            {
                Node machine = checkpoint.MachineOrNull;
                return machine == null ? null : machine.Find("Checkpoints", "Id", checkpoint.CheckpointId.ToString());
            };
            return checkpoint;
        }

        internal override Node SettingsOrNull
        {
            get
            {
                Node node = Find();
                return node == null ? null : node.Get("Settings") as Node;
            }
        }

        internal override object Member(string name)
        {
            Node node = Source;
            switch (name)
            {
                case "Id": return CheckpointId;
                case "Name": return node.Text("Name");
                case "VMId": return MachineId;
                case "VMName": return MachineNode.Text("Name");
                case "State": return node.Text("State");
                case "CreationTime": return node.Get("Created");
                case "SnapshotType": return node.Has("SnapshotType") ? node.Get("SnapshotType") : "Standard";
                case "IsAutomaticCheckpoint": return node.Flag("IsAutomaticCheckpoint");
                case "ParentSnapshotId": return node.Has("Parent") ? node.Get("Parent") : null;
                case "ParentSnapshotName":
                    Node parent = MachineNode.Find("Checkpoints", "Id", node.Text("Parent"));
                    return parent == null ? null : parent.Text("Name");
                default: return base.Member(name);
            }
        }

        public override string ToString() { return "VMSnapshot (Name = '" + Name + "') [Id = '" + Id + "']"; }
    }
}
