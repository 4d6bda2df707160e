using System;
using System.Collections.Generic;
using System.Management.Automation;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Cmdlets that read or set one part of a machine, passed as a name, as the machine or as the part itself.</summary>
    public abstract class PartCmdlet<T> : SimulatedCmdlet where T : VMComponentObject, new()
    {
        internal abstract string PartKey { get; }

        /// <summary>The parameter that takes the part itself.</summary>
        internal virtual string PartParameter { get { return typeof(T).Name; } }

        /// <summary>Refuses machines that have no such part.</summary>
        internal virtual void Check(VirtualMachineBase owner)
        {
            if (owner.Settings.Get(PartKey) == null) throw Refusal.Operation(Texts.Host("part_not_found", typeof(T).Name.Substring(2)));
        }

        internal List<VirtualMachineBase> Owners()
        {
            List<VirtualMachineBase> owners = new List<VirtualMachineBase>();
            if (Has("VMSnapshot")) foreach (VMSnapshot checkpoint in List<VMSnapshot>("VMSnapshot")) owners.Add(checkpoint);
            else if (Has(PartParameter)) foreach (T part in List<T>(PartParameter)) owners.Add(part.Owner);
            else foreach (VirtualMachine machine in Targets()) owners.Add(machine);
            return owners;
        }

        internal void Show()
        {
            foreach (VirtualMachineBase owner in Owners())
            {
                VirtualMachineBase target = owner;
                Guarded(target, delegate
                {
                    Check(target);
                    Output.Emit(target.Part<T>(PartKey));
                });
            }
        }

        internal void Change(Action<Node> change, params string[] offOnly)
        {
            foreach (VirtualMachineBase owner in Owners())
            {
                VirtualMachineBase target = owner;
                if (!Output.ShouldProcess(target.MachineNode.Text("Name"), CommandName)) continue;
                Guarded(target, delegate
                {
                    Check(target);
                    foreach (string name in offOnly) if (Has(name)) { Power.Require(target.MachineNode, "Off"); break; }
                    ChangeMachine(target, delegate(Node node) { change(node.Child("Settings")); });
                    if (Flag("Passthru")) Output.Emit(target.Part<T>(PartKey));
                });
            }
        }

        internal void Copy(Node part, params string[] names)
        {
            foreach (string name in names) if (Has(name)) part[name] = Stored.Of(Value(name));
        }

        internal void CheckRange(string name, long least, long most)
        {
            if (Has(name) && (Value<long>(name, 0) < least || Value<long>(name, 0) > most)) throw Refusal.Invalid(Texts.Host("failed"));
        }
    }
}

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class GetVMProcessor : PartCmdlet<VMProcessor>
    {
        internal override string PartKey { get { return "Processor"; } }
        internal override void Work() { Show(); }
    }

    public partial class SetVMProcessor : PartCmdlet<VMProcessor>
    {
        internal override string PartKey { get { return "Processor"; } }

        internal override void Work()
        {
            CheckRange("Count", 1, 2048);
            CheckRange("Reserve", 0, 100);
            CheckRange("Maximum", 0, 100);
            CheckRange("RelativeWeight", 1, 10000);
            Change(delegate(Node settings)
            {
                Copy(settings.Child("Processor"), "Count", "CompatibilityForMigrationEnabled", "CompatibilityForOlderOperatingSystemsEnabled", "HwThreadCountPerCore",
                    "Maximum", "Reserve", "RelativeWeight", "MaximumCountPerNumaNode", "MaximumCountPerNumaSocket", "ResourcePoolName",
                    "EnableHostResourceProtection", "ExposeVirtualizationExtensions", "EnableLegacyApicMode", "AllowACountMCount");
            }, "Count", "ExposeVirtualizationExtensions");
        }
    }

    public partial class GetVMMemory : PartCmdlet<VMMemory>
    {
        internal override string PartKey { get { return "Memory"; } }
        internal override void Work() { Show(); }
    }

    public partial class SetVMMemory : PartCmdlet<VMMemory>
    {
        internal override string PartKey { get { return "Memory"; } }

        internal override void Work()
        {
            CheckRange("Buffer", 5, 2000);
            CheckRange("Priority", 0, 100);
            Change(delegate(Node settings)
            {
                Node memory = settings.Child("Memory");
                if (Has("DynamicMemoryEnabled")) memory["DynamicMemoryEnabled"] = Flag("DynamicMemoryEnabled");
                MemoryRules.Apply(memory, this, "StartupBytes", "MinimumBytes", "MaximumBytes");
                Copy(memory, "Buffer", "Priority", "ResourcePoolName");
                if (Has("MaximumAmountPerNumaNodeBytes")) memory["MaximumPerNumaNode"] = Value<long>("MaximumAmountPerNumaNodeBytes", 0) / 1048576;
            }, "DynamicMemoryEnabled");
        }
    }

    public partial class GetVMFirmware : PartCmdlet<VMFirmware>
    {
        internal override string PartKey { get { return "Firmware"; } }
        internal override void Work() { Show(); }
    }

    public partial class SetVMFirmware : PartCmdlet<VMFirmware>
    {
        internal override string PartKey { get { return "Firmware"; } }

        internal override void Work()
        {
            Change(delegate(Node settings)
            {
                Node firmware = settings.Child("Firmware");
                if (Has("SecureBootTemplate") || Has("SecureBootTemplateId")) SetTemplate(settings, firmware);
                if (Has("EnableSecureBoot")) firmware["SecureBoot"] = Text("EnableSecureBoot");
                Copy(firmware, "PreferredNetworkBootProtocol", "ConsoleMode", "PauseAfterBootFailure");
                if (Has("BootOrder")) firmware["Order"] = Ids(List<VMComponentObject>("BootOrder"));
                if (Has("FirstBootDevice")) PutFirst(firmware, Ids(List<VMComponentObject>("FirstBootDevice"))[0]);
            }, "EnableSecureBoot", "SecureBootTemplate", "SecureBootTemplateId");
        }

        private void SetTemplate(Node settings, Node firmware)
        {
            if (settings.Child("Security").Flag("TpmEnabled")) throw Refusal.Failed(Texts.Host("tpm_template"));
            foreach (KeyValuePair<string, string> template in Boot.Templates)
            {
                bool named = string.Equals(template.Key, Text("SecureBootTemplate"), StringComparison.OrdinalIgnoreCase);
                if (!named && template.Value != Text("SecureBootTemplateId")) continue;
                firmware["SecureBootTemplate"] = template.Key;
                firmware["SecureBootTemplateId"] = template.Value;
                return;
            }
            throw Refusal.Invalid(Texts.Host("failed"));
        }

        private static List<object> Ids(List<VMComponentObject> devices)
        {
            List<object> ids = new List<object>();
            foreach (VMComponentObject device in devices)
            {
                VMBootSource source = device as VMBootSource;
                ids.Add(Boot.IdOf(source == null ? device : source.Device));
            }
            return ids;
        }

        private static void PutFirst(Node firmware, object id)
        {
            List<object> order = firmware.Items("Order");
            order.Remove(id);
            order.Insert(0, id);
        }
    }

    public partial class GetVMBios : PartCmdlet<VMBios>
    {
        internal override string PartKey { get { return "Bios"; } }
        internal override void Work() { Show(); }
    }

    public partial class SetVMBios : PartCmdlet<VMBios>
    {
        internal override string PartKey { get { return "Bios"; } }

        internal override void Work()
        {
            Change(delegate(Node settings)
            {
                Node bios = settings.Child("Bios");
                if (Flag("EnableNumLock")) bios["NumLockEnabled"] = true;
                if (Flag("DisableNumLock")) bios["NumLockEnabled"] = false;
                if (!Has("StartupOrder")) return;
                List<object> order = new List<object>();
                foreach (BootDevice device in List<BootDevice>("StartupOrder")) order.Add(device == BootDevice.VHD ? "IDE" : device == BootDevice.NetworkAdapter ? "LegacyNetworkAdapter" : device.ToString());
                bios["StartupOrder"] = order;
            }, "StartupOrder");
        }
    }

    public partial class GetVMVideo : PartCmdlet<VMVideo>
    {
        internal override string PartKey { get { return "Video"; } }
        internal override void Work() { Show(); }
    }

    public partial class SetVMVideo : PartCmdlet<VMVideo>
    {
        internal override string PartKey { get { return "Video"; } }

        internal override void Work()
        {
            Change(delegate(Node settings) { Copy(settings.Child("Video"), "ResolutionType", "HorizontalResolution", "VerticalResolution"); },
                "ResolutionType", "HorizontalResolution", "VerticalResolution");
        }
    }

    public partial class GetVMComPort : PartCmdlet<VMComPort>
    {
        internal override string PartKey { get { return "ComPorts"; } }

        internal override void Work()
        {
            foreach (VirtualMachineBase owner in Owners())
            {
                foreach (VMComPort port in owner.Parts<VMComPort>("ComPorts"))
                {
                    if (!Has("Number") || port.Source.Number("Number") == Value<long>("Number", 0)) Output.Emit(port);
                }
            }
        }
    }

    public partial class SetVMComPort : PartCmdlet<VMComPort>
    {
        internal override string PartKey { get { return "ComPorts"; } }

        internal override void Work()
        {
            List<VMComPort> ports = List<VMComPort>("VMComPort");
            if (!Has("VMComPort")) foreach (VirtualMachine machine in Targets()) ports.Add(machine.Parts<VMComPort>("ComPorts")[Value<int>("Number", 1) - 1]);
            foreach (VMComPort port in ports)
            {
                VMComPort target = port;
                if (!Output.ShouldProcess(target.VMName, CommandName)) continue;
                Guarded(target.Owner, delegate
                {
                    ChangeMachine(target.Owner, delegate(Node node) { Copy(node.Child("Settings").Find("ComPorts", "Id", target.Id), "Path", "DebuggerMode"); });
                    if (Flag("Passthru")) Output.Emit(target);
                });
            }
        }
    }

    public partial class GetVMSecurity : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets())
            {
                VirtualMachine target = machine;
                Guarded(target, delegate
                {
                    if (target.Generation == 1) throw Refusal.Operation(Texts.Host("part_not_found", "Security"));
                    Output.Emit(new VMSecurity { Find = delegate { return target.SettingsOrNull == null ? null : target.SettingsOrNull.Get("Security") as Node; } });
                });
            }
        }
    }

    public partial class SetVMSecurity : SimulatedCmdlet
    {
        internal override void Work()
        {
            SecurityChange.Run(this, delegate(Node security)
            {
                foreach (string name in new[] { "EncryptStateAndVmMigrationTraffic", "VirtualizationBasedSecurityOptOut" }) if (Has(name)) security[name] = Flag(name);
            });
        }
    }

    public partial class SetVMKeyProtector : SimulatedCmdlet
    {
        internal override void Work()
        {
            SecurityChange.Run(this, delegate(Node security) { security["KeyProtector"] = Flag("NewLocalKeyProtector") ? "local" : "given"; });
        }
    }

    public partial class GetVMKeyProtector : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets())
            {
                bool none = machine.Settings.Child("Security").Text("KeyProtector").Length == 0;
                Output.Emit(none ? new byte[] { 0, 0, 0, 4 } : new byte[] { 0, 0, 0, 1, 104, 118, 108, 97, 98 });
            }
        }
    }

    public partial class EnableVMTPM : SimulatedCmdlet
    {
        internal override void Work()
        {
            SecurityChange.Run(this, delegate(Node security)
            {
                if (security.Text("KeyProtector").Length == 0) throw Refusal.Failed(Texts.Host("failed"));
                security["TpmEnabled"] = true;
            });
        }
    }

    public partial class DisableVMTPM : SimulatedCmdlet
    {
        internal override void Work() { SecurityChange.Run(this, delegate(Node security) { security["TpmEnabled"] = false; }); }
    }
}

namespace HvlabSimulation
{
    /// <summary>Changes of a Generation 2 machine's security settings, which need it off.</summary>
    internal static class SecurityChange
    {
        public static void Run(SimulatedCmdlet cmdlet, Action<Node> change)
        {
            cmdlet.ForEachTarget(delegate(VirtualMachine machine)
            {
                if (machine.Generation == 1) throw Refusal.Operation(Texts.Host("part_not_found", "Security"));
                Power.Require(machine.MachineNode, "Off");
                cmdlet.ChangeMachine(machine, delegate(Node node) { change(node.Child("Settings").Child("Security")); });
                if (cmdlet.Flag("Passthru")) cmdlet.Output.Emit(machine);
            });
        }
    }
}
