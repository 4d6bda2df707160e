using System;
using System.Collections.Generic;
using System.IO;
using System.Management.Automation;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class GetVMHost : SimulatedCmdlet
    {
        internal override void Work()
        {
            PSObject host = PSObject.AsPSObject(VMHost.Current());
            host.Properties.Add(new PSNoteProperty("IsSimulated", true));
            Output.Emit(host);
        }
    }

    public partial class SetVMHost : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (!Output.ShouldProcess(VMHost.Current().Name, CommandName)) return;
            World.Current.Change(delegate(WorldChange change)
            {
                Node host = change.Edit("host");
                foreach (string name in new[] { "VirtualHardDiskPath", "VirtualMachinePath", "MacAddressMinimum", "MacAddressMaximum", "EnableEnhancedSessionMode", "NumaSpanningEnabled" })
                {
                    if (Has(name)) host[name] = Stored.Of(Value(name));
                }
                CallLog.Effect(change, CommandName, "host");
            });
            if (Flag("Passthru")) Output.Emit(VMHost.Current());
        }
    }

    public partial class GetVMHostSupportedVersion : SimulatedCmdlet
    {
        internal override void Work()
        {
            Node host = World.Current.Document("host");
            foreach (string version in HostVersions.All(host))
            {
                bool isDefault = version == HostVersions.Default(host);
                if (Flag("Default") && !isDefault) continue;
                Node node = new Node().With("Name", "Configuration version " + version).With("Version", version).With("IsDefault", isDefault);
                Output.Emit(new VMHostSupportedVersion { Find = delegate { return node; } });
            }
        }
    }

    public partial class GetVMHostNumaNode : SimulatedCmdlet
    {
        internal override void Work()
        {
            int memory = (int)(World.Current.Document("host").Number("MemoryCapacity") / 1048576);
            Node node = new Node().With("NodeId", 0L).With("MemoryTotal", memory).With("MemoryAvailable", memory / 2).With("ProcessorsAvailability", new List<object> { 95L, 97L, 96L, 99L });
            Output.Emit(new VMHostNumaNode { Find = delegate { return node; } });
        }
    }

    public partial class GetVMIntegrationService : SimulatedCmdlet
    {
        internal override void Work()
        {
            List<VirtualMachineBase> owners = new List<VirtualMachineBase>();
            if (Has("VMSnapshot")) foreach (VMSnapshot checkpoint in List<VMSnapshot>("VMSnapshot")) owners.Add(checkpoint);
            else foreach (VirtualMachine machine in Targets()) owners.Add(machine);
            foreach (VirtualMachineBase owner in owners) foreach (VMIntegrationComponent service in Services.Of(this, owner)) Output.Emit(service);
        }
    }

    public partial class EnableVMIntegrationService : SimulatedCmdlet
    {
        internal override void Work() { Services.Switch(this, true); }
    }

    public partial class DisableVMIntegrationService : SimulatedCmdlet
    {
        internal override void Work() { Services.Switch(this, false); }
    }

    public partial class CopyVMFile : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                string source = FullPath(Text("SourcePath"));
                string destination = Text("DestinationPath");
                string local = HostPath.Local(World.Current, source);
                if (!File.Exists(local)) throw Refusal.NotFound(Texts.Host("file_missing"));
                // As seen on a real host: with the service disabled nothing is copied and nothing is said.
                if (!machine.Settings.Find("Services", "Key", "Guest Service Interface").Flag("Enabled")) return;
                if (!Machine.GuestAnswers(machine.MachineNode)) throw Refusal.Failed(Texts.Host("copy_not_ready", source, destination, machine.Name, machine.Id.ToString().ToUpperInvariant()));
                string target = GuestProcesses.PathIn(machine.MachineNode, destination);
                if (!Directory.Exists(Path.GetDirectoryName(target)))
                {
                    if (!Flag("CreateFullPath")) throw Refusal.Failed(Texts.Host("copy_not_ready", source, destination, machine.Name, machine.Id.ToString().ToUpperInvariant()));
                    Directory.CreateDirectory(Path.GetDirectoryName(target));
                }
                if (File.Exists(target) && !Flag("Force")) throw Refusal.Failed(Texts.Host("failed"));
                File.Copy(local, target, true);
            });
        }
    }

    public partial class GetVMPartitionableGpu : SimulatedCmdlet
    {
        internal override void Work() { GpuWork.Show(this); }
    }

    public partial class GetVMHostPartitionableGpu : SimulatedCmdlet
    {
        internal override void Work() { GpuWork.Show(this); }
    }

    public partial class GetVMGpuPartitionAdapter : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets()) foreach (VMGpuPartitionAdapter adapter in machine.Parts<VMGpuPartitionAdapter>("GpuAdapters")) Output.Emit(adapter);
        }
    }

    public partial class AddVMGpuPartitionAdapter : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Power.Require(machine.MachineNode, "Off");
                Node adapter = MachineFactory.Part(machine.MachineId, "G", "GPU Partition Settings");
                GpuWork.Copy(this, adapter);
                ChangeMachine(machine, delegate(Node node) { node.Child("Settings").Items("GpuAdapters").Add(adapter); });
                if (Flag("Passthru")) Output.Emit(VMComponentObject.Item<VMGpuPartitionAdapter>(machine, "GpuAdapters", adapter));
            });
        }
    }

    public partial class SetVMGpuPartitionAdapter : SimulatedCmdlet
    {
        internal override void Work()
        {
            GpuWork.Change(this, delegate(Node settings, Node adapter) { GpuWork.Copy(this, adapter); });
        }
    }

    public partial class RemoveVMGpuPartitionAdapter : SimulatedCmdlet
    {
        internal override void Work()
        {
            GpuWork.Change(this, delegate(Node settings, Node adapter) { settings.Items("GpuAdapters").Remove(adapter); });
        }
    }
}

namespace HvlabSimulation
{
    /// <summary>Integration services, named in the host's language.</summary>
    internal static class Services
    {
        public static List<VMIntegrationComponent> Of(SimulatedCmdlet cmdlet, VirtualMachineBase owner)
        {
            List<string> names = cmdlet.List<string>("Name");
            List<VMIntegrationComponent> found = new List<VMIntegrationComponent>();
            foreach (VMIntegrationComponent service in owner.Parts<VMIntegrationComponent>("Services"))
            {
                bool wanted = names.Count == 0;
                foreach (string name in names) wanted = wanted || new WildcardPattern(name, WildcardOptions.IgnoreCase).IsMatch(service.Name);
                if (wanted) found.Add(service);
            }
            if (found.Count == 0) cmdlet.Output.Fail(Refusal.NotFound(Texts.Host("part_not_found", "integration component")).ToRecord());
            return found;
        }

        public static void Switch(SimulatedCmdlet cmdlet, bool enabled)
        {
            List<VMIntegrationComponent> services = cmdlet.List<VMIntegrationComponent>("VMIntegrationService");
            if (!cmdlet.Has("VMIntegrationService")) foreach (VirtualMachine machine in cmdlet.Targets()) services.AddRange(Of(cmdlet, machine));
            foreach (VMIntegrationComponent service in services)
            {
                if (!cmdlet.Output.ShouldProcess(service.Name, cmdlet.CommandName)) continue;
                string id = service.Id;
                cmdlet.ChangeMachine(service.Owner, delegate(Node node) { node.Child("Settings").Find("Services", "Id", id)["Enabled"] = enabled; });
                if (cmdlet.Flag("Passthru")) cmdlet.Output.Emit(service);
            }
        }
    }

    /// <summary>GPU partition adapters.</summary>
    internal static class GpuWork
    {
        private static readonly string[] Kinds = { "VRAM", "Encode", "Decode", "Compute" };

        public static void Show(SimulatedCmdlet cmdlet)
        {
            foreach (VMPartitionableGpu gpu in VMPartitionableGpu.All())
            {
                if (!cmdlet.Has("Name") || gpu.Name == cmdlet.Text("Name")) cmdlet.Output.Emit(gpu);
            }
        }

        public static void Copy(SimulatedCmdlet cmdlet, Node adapter)
        {
            foreach (string kind in Kinds)
            {
                foreach (string name in new[] { "MinPartition" + kind, "MaxPartition" + kind, "OptimalPartition" + kind })
                {
                    if (cmdlet.Has(name)) adapter[name] = cmdlet.Value(name);
                }
            }
        }

        public static void Change(SimulatedCmdlet cmdlet, Action<Node, Node> change)
        {
            List<VMGpuPartitionAdapter> adapters = cmdlet.List<VMGpuPartitionAdapter>("VMGpuPartitionAdapter");
            if (adapters.Count == 0) foreach (VirtualMachine machine in cmdlet.Targets()) adapters.AddRange(machine.Parts<VMGpuPartitionAdapter>("GpuAdapters"));
            if (cmdlet.Has("AdapterId")) adapters.RemoveAll(delegate(VMGpuPartitionAdapter one) { return one.Id != cmdlet.Text("AdapterId"); });
            if (adapters.Count == 0) throw Refusal.NotFound(Texts.Host("part_not_found", "Gpu partition adapter"));
            foreach (VMGpuPartitionAdapter adapter in adapters)
            {
                string id = adapter.Id;
                Power.Require(adapter.Owner.MachineNode, "Off");
                cmdlet.ChangeMachine(adapter.Owner, delegate(Node node) { change(node.Child("Settings"), node.Child("Settings").Find("GpuAdapters", "Id", id)); });
            }
        }
    }
}
