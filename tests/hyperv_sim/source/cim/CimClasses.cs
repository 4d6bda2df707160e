using System;
using System.Collections.Generic;
using System.Text;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>The CIM classes that the simulated host has, as far as a control plane reads them.</summary>
    internal static class CimClasses
    {
        /// <summary>All instances of a class; null for a class that is not simulated.</summary>
        public static List<CimRecord> List(string cimNamespace, string className)
        {
            string where = (cimNamespace ?? "root/cimv2").Replace('\\', '/').TrimStart('/').ToLowerInvariant();
            if (where != CimRecord.VirtualizationNamespace) return HostClasses.List(where, className);
            List<CimRecord> records = new List<CimRecord>();
            bool filtered = !Faults.MayManage || Faults.Settings.Text("service") == "stopped";
            Node host = World.Current.Document("host");
            switch (className.ToLowerInvariant())
            {
                case "msvm_computersystem":
                    records.Add(Record("Msvm_ComputerSystem", host.Text("Name"), "", new Node().With("Caption", "Hosting Computer System").With("Description", "Microsoft Hosting Computer System")
                        .With("ElementName", host.Text("Name")).With("Name", host.Text("Name")).With("EnabledState", 2L).With("HealthState", 5L).With("OperationalStatus", Codes(2))));
                    if (!filtered) foreach (Node machine in Machine.All()) records.Add(System(machine));
                    return records;
                case "msvm_plannedcomputersystem":
                    if (!filtered) foreach (Node machine in PlannedMachines.All()) records.Add(Planned(machine));
                    return records;
                case "msvm_virtualsystemmanagementservice":
                    if (!filtered) records.Add(Record("Msvm_VirtualSystemManagementService", "vmms", "", new Node().With("Name", "vmms").With("ElementName", "Hyper-V Virtual System Management Service").With("SystemName", host.Text("Name")).With("Started", true)));
                    return records;
                case "msvm_virtualsystemsettingdata":
                    if (!filtered) foreach (Node machine in Machine.All()) AddSettings(records, machine);
                    return records;
                case "msvm_concretejob":
                    if (!filtered) foreach (Node machine in Machine.All()) CimJobs.AddTo(records, machine);
                    return records;
            }
            string known = Array.Find(DeviceClasses, delegate(string one) { return string.Equals(one, className, StringComparison.OrdinalIgnoreCase); });
            if (known == null) return null;
            if (!filtered) foreach (Node machine in Machine.All()) AddDevice(records, known, machine);
            return records;
        }

        private static readonly string[] DeviceClasses =
        {
            "Msvm_Keyboard", "Msvm_SyntheticMouse", "Msvm_Ps2Mouse", "Msvm_VideoHead", "Msvm_KvpExchangeComponent", "Msvm_ShutdownComponent", "Msvm_HeartbeatComponent", "Msvm_SummaryInformation"
        };

        public static CimRecord Record(string className, string key, string system, Node node)
        {
            return new CimRecord(CimRecord.VirtualizationNamespace, className, key, system, node);
        }

        public static List<object> Codes(params long[] codes)
        {
            List<object> list = new List<object>();
            foreach (long code in codes) list.Add((ushort)code);
            return list;
        }

        public static string IdOf(Node machine) { return machine.Text("Id").ToUpperInvariant(); }

        /// <summary>EnabledState of a VMState name; transitions read 1 (other) or their own number.</summary>
        public static long EnabledState(string state)
        {
            switch (state)
            {
                case "Running": return 2;
                case "Off": return 3;
                case "Stopping": return 4;
                case "Saved": return 6;
                case "Paused": return 9;
                case "Starting": return 10;
                default: return 1;
            }
        }

        private static CimRecord System(Node machine)
        {
            Node activity = Machine.Activity(machine);
            string state = Machine.State(machine);
            long uptime = state == "Running" ? (Clock.Now - machine.Number("BootedAt")) / TimeSpan.TicksPerMillisecond : 0;
            long code = activity == null ? 0 : (long)(VMOperationalStatus)Enum.Parse(typeof(VMOperationalStatus), activity.Text("Status"));
            Node node = new Node().With("Caption", "Virtual Machine").With("Description", "Microsoft Virtual Machine").With("ElementName", machine.Text("Name"))
                .With("Name", IdOf(machine)).With("EnabledState", (ushort)EnabledState(state)).With("OtherEnabledState", EnabledState(state) == 1 ? state : null)
                .With("HealthState", (ushort)5).With("OperationalStatus", activity == null ? Codes(2) : Codes(2, code == 23769 ? 32769 : code))
                .With("OnTimeInMilliseconds", (ulong)uptime).With("ProcessID", state == "Running" ? (object)4242u : null).With("NumberOfNumaNodes", (ushort)1)
                .With("InstallDate", new DateTime(machine.Number("Created"), DateTimeKind.Utc)).With("EnhancedSessionModeState", (ushort)2);
            return Record("Msvm_ComputerSystem", IdOf(machine), IdOf(machine), node);
        }

        private static CimRecord Planned(Node machine)
        {
            Node node = new Node().With("Caption", "Planned Virtual Machine").With("Description", "Microsoft Planned Virtual Machine").With("ElementName", machine.Text("Name"))
                .With("Name", IdOf(machine)).With("EnabledState", (ushort)3).With("HealthState", (ushort)5).With("OperationalStatus", Codes(2));
            return Record("Msvm_PlannedComputerSystem", IdOf(machine), IdOf(machine), node);
        }

        private static void AddSettings(List<CimRecord> records, Node machine)
        {
            records.Add(Settings(machine, IdOf(machine), machine.Text("Name"), machine.Child("Settings"), "Microsoft:Hyper-V:System:Realized", ""));
            foreach (Node checkpoint in machine.Nodes("Checkpoints"))
            {
                records.Add(Settings(machine, checkpoint.Text("Id").ToUpperInvariant(), checkpoint.Text("Name"), checkpoint.Child("Settings"), "Microsoft:Hyper-V:Snapshot:Realized", checkpoint.Text("Parent")));
            }
        }

        private static CimRecord Settings(Node machine, string id, string name, Node settings, string type, string parent)
        {
            Node node = new Node().With("InstanceID", "Microsoft:" + id).With("ElementName", name).With("VirtualSystemIdentifier", IdOf(machine)).With("VirtualSystemType", type)
                .With("VirtualSystemSubType", "Microsoft:Hyper-V:SubType:" + settings.Number("Generation")).With("Version", settings.Text("Version"))
                .With("ConfigurationDataRoot", settings.Text("ConfigurationLocation")).With("Notes", new List<object> { settings.Text("Notes") })
                .With("Parent", parent.Length == 0 ? null : "Microsoft:" + parent.ToUpperInvariant());
            return Record("Msvm_VirtualSystemSettingData", "Microsoft:" + id, IdOf(machine), node);
        }

        // Devices exist while the machine runs; a mouse of the old kind on Generation 1 only.
        private static void AddDevice(List<CimRecord> records, string className, Node machine)
        {
            bool runs = Machine.Runs(machine);
            Node node = new Node().With("SystemName", IdOf(machine)).With("SystemCreationClassName", "Msvm_ComputerSystem").With("EnabledState", (ushort)(runs ? 2 : 3));
            switch (className)
            {
                case "Msvm_KvpExchangeComponent":
                    node["GuestIntrinsicExchangeItems"] = KvpItems(machine);
                    node["GuestExchangeItems"] = new List<object>();
                    break;
                case "Msvm_HeartbeatComponent":
                    if (!runs) return;
                    node["OperationalStatus"] = Machine.GuestAnswers(machine) ? Codes(2) : Codes(12);
                    break;
                case "Msvm_ShutdownComponent":
                    if (!Power.CanShutDown(machine)) return;
                    break;
                case "Msvm_Ps2Mouse":
                    if (!runs || machine.Child("Settings").Number("Generation") != 1) return;
                    break;
                case "Msvm_SummaryInformation":
                    return;
                case "Msvm_VideoHead":
                    if (!runs) return;
                    Node video = machine.Child("Settings").Child("Video");
                    node.With("CurrentHorizontalResolution", (uint)video.Number("HorizontalResolution", 1024)).With("CurrentVerticalResolution", (uint)video.Number("VerticalResolution", 768)).With("CurrentBitsPerPixel", 32u);
                    break;
                default:
                    if (!runs) return;
                    node.With("UnicodeSupported", true).With("Layout", "00000409");
                    break;
            }
            records.Add(Record(className, className + IdOf(machine), IdOf(machine), node));
        }

        private static List<object> KvpItems(Node machine)
        {
            List<object> items = new List<object>();
            if (!Machine.GuestAnswers(machine)) return items;
            foreach (KeyValuePair<string, string> fact in GuestProcesses.Facts(machine))
            {
                StringBuilder text = new StringBuilder("<INSTANCE CLASSNAME=\"Msvm_KvpExchangeDataItem\">");
                text.Append("<PROPERTY NAME=\"Caption\" PROPAGATED=\"true\" TYPE=\"string\"></PROPERTY>");
                text.Append("<PROPERTY NAME=\"Data\" TYPE=\"string\"><VALUE>").Append(Escape(fact.Value)).Append("</VALUE></PROPERTY>");
                text.Append("<PROPERTY NAME=\"Description\" PROPAGATED=\"true\" TYPE=\"string\"></PROPERTY>");
                text.Append("<PROPERTY NAME=\"ElementName\" PROPAGATED=\"true\" TYPE=\"string\"></PROPERTY>");
                text.Append("<PROPERTY NAME=\"Name\" TYPE=\"string\"><VALUE>").Append(fact.Key).Append("</VALUE></PROPERTY>");
                text.Append("<PROPERTY NAME=\"Source\" TYPE=\"uint16\"><VALUE>2</VALUE></PROPERTY></INSTANCE>");
                items.Add(text.ToString());
            }
            return items;
        }

        private static string Escape(string text) { return text.Replace("&", "&amp;").Replace("<", "&lt;").Replace(">", "&gt;"); }
    }

    /// <summary>Jobs: what runs on a machine now or ended in the last minutes.</summary>
    internal static class CimJobs
    {
        private const double RemovalSeconds = 300;

        public static void AddTo(List<CimRecord> records, Node machine)
        {
            foreach (string member in new[] { "Activity", "Job" })
            {
                Node work = machine.Get(member) as Node;
                if (work == null || Clock.SecondsSince(work.Number("Until")) > RemovalSeconds || (work.Flag("Vanishes") && Clock.Now >= work.Number("Until"))) continue;
                records.Add(ToRecord(machine, work));
            }
        }

        public static CimRecord ToRecord(Node machine, Node work)
        {
            bool done = Clock.Now >= work.Number("Until");
            bool failed = done && work.Number("ErrorCode") != 0;
            string id = machine.Text("Id").Substring(0, 19) + "b0b0-" + (work.Number("Started") & 0xffffffffffff).ToString("x12");
            Node node = new Node().With("InstanceID", id.ToUpperInvariant()).With("Name", "Msvm_ConcreteJob").With("ElementName", work.Text("Status"))
                .With("JobState", (ushort)(failed ? 10 : done ? 7 : 4)).With("PercentComplete", (ushort)(done ? 100 : Machine.Percent(work))).With("JobStatus", done ? "Job is completed." : "Job is running.")
                .With("ErrorCode", (ushort)(failed ? work.Number("ErrorCode") : 0)).With("ErrorDescription", failed ? Texts.Host("job_failed") : "").With("ErrorSummaryDescription", failed ? Texts.Host("job_failed") : "")
                .With("JobType", (ushort)JobType(work.Text("Status"))).With("Cancellable", false).With("DeleteOnCompletion", true).With("SystemName", CimClasses.IdOf(machine))
                .With("StartTime", new DateTime(work.Number("Started"), DateTimeKind.Utc));
            return CimClasses.Record("Msvm_ConcreteJob", id, CimClasses.IdOf(machine), node);
        }

        private static int JobType(string status)
        {
            switch (status)
            {
                case "MergingDisks": return 50;
                case "ExportingVirtualMachine": return 62;
                case "CreatingSnapshot": return 70;
                case "ApplyingSnapshot": return 71;
                case "DeletingSnapshot": return 72;
                case "Running": return 12;
                case "Off": return 13;
                case "Saved": return 14;
                default: return 0;
            }
        }
    }
}
