using System;
using System.Collections.Generic;
using System.IO;
using System.Management.Automation;
using HvlabSimulation;

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class GetVM : SimulatedCmdlet
    {
        internal override bool HidesWithoutPermission { get { return true; } }

        internal override Refusal MissingMachine(string name)
        {
            Refusal refusal = Refusal.Invalid(Texts.Host("vm_not_found", name));
            refusal.Target = name;
            return refusal;
        }

        internal override void Work()
        {
            if (Has("Id"))
            {
                Guid id = Value<Guid>("Id", Guid.Empty);
                if (Faults.HidesMachines || !World.Current.Exists(Machine.DocumentOf(id))) throw Refusal.NotFound(Texts.Host("vm_id_not_found", id));
                Emit(VirtualMachine.Of(id));
                return;
            }
            List<VirtualMachine> machines = Has("Name") ? Targets() : VirtualMachine.Matching("*");
            foreach (VirtualMachine machine in machines) Emit(machine);
        }

        // A machine whose storage is lost gives one error and does not hide the others.
        private void Emit(VirtualMachine machine)
        {
            if (machine.MachineNode.Flag("Lost")) Output.Fail(machine.Gone().ToRecord());
            else Output.Emit(machine);
        }
    }

    public partial class NewVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            Node host = World.Current.Document("host");
            string name = Has("Name") ? Text("Name") : "New Virtual Machine";
            int generation = Value<int>("Generation", 1);
            string device = Text("BootDevice");
            if (generation == 2 && (device == "Floppy" || device == "LegacyNetworkAdapter" || device == "IDE")) throw Refusal.Invalid(Texts.Host("failed"));
            if (name.Length > 100 || name.IndexOfAny("\\/:*?\"<>|".ToCharArray()) >= 0) throw Refusal.Unspecified(Texts.Host("failed"));
            string version = Has("Version") ? Text("Version") : HostVersions.Default(host);
            if (!HostVersions.All(host).Contains(version)) throw Refusal.Invalid(Texts.Host("failed"));
            Node link = null;
            if (Text("SwitchName").Length > 0)
            {
                link = Switching.ByName(Text("SwitchName"));
                if (link == null) throw Refusal.Invalid(Texts.Host("switch_not_found", Text("SwitchName")));
            }
            if (!Output.ShouldProcess(name, CommandName)) return;

            string folder = Has("Path") ? HostPath.Join(FullPath(Text("Path")), name) : host.Text("VirtualMachinePath");
            string disk = MakeDisk(host, folder);
            Guid id = Guid.NewGuid();
            Node machine = MachineFactory.Create(id, name, generation, version, Value<long>("MemoryStartupBytes", 536870912L), folder);
            Node settings = machine.Child("Settings");
            settings.Items("NetworkAdapters").Add(MachineFactory.Adapter(id, Texts.Host("network_adapter"), link));
            if (disk != null) settings.Items("HardDrives").Add(MachineFactory.Drive(id, "HardDrives", generation == 1 ? "IDE" : "SCSI", 0, 0, disk));
            MachineFiles.Write(machine);
            double seconds = Faults.Duration(CommandName, machine);
            Wait(seconds / 2, "Creating");
            World.Current.Change(delegate(WorldChange change)
            {
                change.Put(Machine.DocumentOf(id), machine);
                CallLog.Effect(change, CommandName, name);
            });
            Faults.Apply(this, machine, "during");
            Wait(seconds / 2, "Creating");
            Output.Emit(VirtualMachine.Of(id));
        }

        private string MakeDisk(Node host, string folder)
        {
            if (Has("VHDPath"))
            {
                string existing = FullPath(Text("VHDPath"));
                if (!VhdFile.Exists(existing)) throw Refusal.NotFound(Texts.Host("vhd_missing", existing));
                return existing;
            }
            if (!Has("NewVHDPath")) return null;
            string path = Text("NewVHDPath");
            if (path.IndexOfAny(new[] { '/', '\\' }) < 0) path = HostPath.Join(Has("Path") ? HostPath.Join(folder, "Virtual Hard Disks") : host.Text("VirtualHardDiskPath"), path);
            path = FullPath(path);
            Directory.CreateDirectory(HostPath.FolderOf(HostPath.Local(World.Current, path)));
            VhdFile.Create(path, "Dynamic", Value<ulong>("NewVHDSizeBytes", 0), null, new Node());
            return path;
        }
    }

    public partial class SetVM : SimulatedCmdlet
    {
        private static readonly string[] Plain =
        {
            "Notes", "AutomaticStartAction", "AutomaticStopAction", "AutomaticStartDelay", "AutomaticCriticalErrorAction",
            "AutomaticCriticalErrorActionTimeout", "AutomaticCheckpointsEnabled", "CheckpointType", "LockOnDisconnect", "SmartPagingFilePath",
            "EnhancedSessionTransportType", "BatteryPassthroughEnabled", "GuestControlledCacheTypes", "LowMemoryMappedIoSpace", "HighMemoryMappedIoSpace"
        };

        private static readonly string[] OffOnly =
        {
            "ProcessorCount", "DynamicMemory", "StaticMemory", "GuestControlledCacheTypes", "LowMemoryMappedIoSpace", "HighMemoryMappedIoSpace", "SnapshotFileLocation"
        };

        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                foreach (string name in OffOnly) if (Has(name)) { Power.Require(machine.MachineNode, "Off"); break; }
                ChangeMachine(machine, delegate(Node node)
                {
                    Node settings = node.Child("Settings");
                    foreach (string name in Plain) if (Has(name)) settings[name] = Stored.Of(Value(name));
                    if (Has("SnapshotFileLocation")) settings["SnapshotFileLocation"] = Text("SnapshotFileLocation");
                    if (Has("ProcessorCount")) settings.Child("Processor")["Count"] = Value<long>("ProcessorCount", 1);
                    MemoryRules.Apply(settings.Child("Memory"), this, "MemoryStartupBytes", "MemoryMinimumBytes", "MemoryMaximumBytes");
                    if (Flag("DynamicMemory")) settings.Child("Memory")["DynamicMemoryEnabled"] = true;
                    if (Flag("StaticMemory")) settings.Child("Memory")["DynamicMemoryEnabled"] = false;
                    if (Has("NewVMName")) node["Name"] = Text("NewVMName");
                    MachineFiles.Write(node);
                });
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class RenameVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                ChangeMachine(machine, delegate(Node node)
                {
                    node["Name"] = Text("NewName");
                    MachineFiles.Write(node);
                });
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class RemoveVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Node node = machine.MachineNode;
                Power.Require(node, "Off", "Saved");
                if (Machine.Activity(node) != null) throw Refusal.State(Texts.Host("wrong_state"));
                if (!Flag("Force") && !Output.ShouldContinue("Do you want to remove virtual machine \"" + machine.Name + "\"?", "Confirm")) return;
                Wait(Faults.Duration(CommandName, node), "Removing");
                foreach (Node checkpoint in node.Nodes("Checkpoints")) Checkpoints.Merge(node, checkpoint);
                World.Current.Change(delegate(WorldChange change)
                {
                    if (!World.Current.Exists(Machine.DocumentOf(machine.MachineId))) throw machine.Gone();
                    change.Remove(Machine.DocumentOf(machine.MachineId));
                    CallLog.Effect(change, CommandName, machine.MachineId.ToString());
                });
                MachineFiles.Delete(node);
            });
        }
    }

    public partial class UpdateVMVersion : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Power.Require(machine.MachineNode, "Off");
                string version = HostVersions.Default(World.Current.Document("host"));
                if (machine.Version == version) Output.Warn("The virtual machine " + machine.Name + " already has the newest version.");
                ChangeMachine(machine, delegate(Node node) { node.Child("Settings")["Version"] = version; });
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class DebugVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                if (!Flag("InjectNonMaskableInterrupt")) return;
                if (!Flag("Force") && !Output.ShouldContinue("Inject a non-maskable interrupt into " + machine.Name + "?", "Confirm")) return;
                Power.Require(machine.MachineNode, "Running");
                ChangeMachine(machine, delegate(Node node)
                {
                    if (Machine.GuestOs(node) == "none") return;
                    node.Child("Guest")["Crashed"] = true;
                    GuestProcesses.WriteDump(node);
                    GuestProcesses.End(node);
                });
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class EnableVMResourceMetering : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets()) ChangeMachine(machine, delegate(Node node) { node["ResourceMeteringEnabled"] = true; });
        }
    }

    public partial class DisableVMResourceMetering : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets()) ChangeMachine(machine, delegate(Node node) { node["ResourceMeteringEnabled"] = false; });
        }
    }

    public partial class MeasureVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets())
            {
                if (!machine.ResourceMeteringEnabled)
                {
                    Output.Fail(Refusal.Operation(Texts.Host("not_metered", machine.Name)).ToRecord());
                    continue;
                }
                Output.Emit(new VMMeteringReportForVirtualMachine
                {
                    VMId = machine.Id, VMName = machine.Name, ComputerName = machine.ComputerName, AverageProcessorUsage = 20,
                    AverageMemoryUsage = (ulong)(machine.MemoryAssigned / 1048576), MaximumMemoryUsage = (ulong)(machine.MemoryStartup / 1048576),
                    MinimumMemoryUsage = 0, TotalDiskAllocation = 0
                });
            }
        }
    }
}

namespace HvlabSimulation
{
    /// <summary>Values as the documents hold them.</summary>
    internal static class Stored
    {
        public static object Of(object value)
        {
            if (value is Enum || value is Guid) return value.ToString();
            if (value is SwitchParameter) return ((SwitchParameter)value).IsPresent;
            return value;
        }
    }

    /// <summary>The rules for memory sizes.</summary>
    internal static class MemoryRules
    {
        public static void Apply(Node memory, SimulatedCmdlet cmdlet, string startup, string minimum, string maximum)
        {
            if (!cmdlet.Has(startup) && !cmdlet.Has(minimum) && !cmdlet.Has(maximum)) return;
            long newStartup = cmdlet.Value<long>(startup, memory.Number("Startup"));
            long newMinimum = cmdlet.Value<long>(minimum, memory.Number("Minimum"));
            long newMaximum = cmdlet.Value<long>(maximum, memory.Number("Maximum"));
            bool dynamic = memory.Flag("DynamicMemoryEnabled") || cmdlet.Flag("DynamicMemory") || cmdlet.Flag("DynamicMemoryEnabled");
            if (newStartup < 33554432 || newStartup % 2097152 != 0) throw Refusal.Invalid(Texts.Host("failed"));
            if (dynamic && (newMinimum > newStartup || newStartup > newMaximum)) throw Refusal.Invalid(Texts.Host("failed"));
            memory["Startup"] = newStartup;
            memory["Minimum"] = newMinimum;
            memory["Maximum"] = newMaximum;
        }
    }

    /// <summary>The configuration files of a machine, so that folders look as on a host.</summary>
    internal static class MachineFiles
    {
        public static string PathOf(Node machine)
        {
            string folder = HostPath.Local(World.Current, machine.Child("Settings").Text("ConfigurationLocation"));
            return Path.Combine(folder, "Virtual Machines", machine.Text("Id").ToUpperInvariant() + ".vmcx");
        }

        public static void Write(Node machine)
        {
            string path = PathOf(machine);
            try
            {
                Directory.CreateDirectory(Path.GetDirectoryName(path));
                File.WriteAllText(path, Json.Write(machine));
            }
            catch (IOException) { throw Refusal.Unspecified(Texts.Host("failed")); }
            catch (UnauthorizedAccessException) { throw Refusal.Unspecified(Texts.Host("failed")); }
        }

        public static void Delete(Node machine) { File.Delete(PathOf(machine)); }
    }
}
