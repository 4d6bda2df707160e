using System;
using System.Collections.Generic;
using System.Globalization;
using System.Management.Automation;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Virtual switches of the host.</summary>
    internal static class Switching
    {
        public static Node ByName(string name) { return World.Current.Document("switches").Find("Switches", "Name", name); }

        public static List<VMSwitch> Matching(string pattern)
        {
            List<VMSwitch> found = new List<VMSwitch>();
            WildcardPattern wildcard = new WildcardPattern(pattern, WildcardOptions.IgnoreCase);
            foreach (Node node in World.Current.Document("switches").Nodes("Switches"))
            {
                if (wildcard.IsMatch(node.Text("Name"))) found.Add(VMSwitch.Of(node));
            }
            return found;
        }

        /// <summary>The host's own adapters, one for each switch that it is on.</summary>
        public static List<object> HostAdapters()
        {
            List<object> adapters = new List<object>();
            foreach (Node node in World.Current.Document("switches").Nodes("Switches"))
            {
                Node link = node;
                if (link.Text("SwitchType") != "Private") adapters.Add(new VMInternalNetworkAdapter { Find = delegate { return link; } });
            }
            return adapters;
        }

        /// <summary>Switches that the caller named or passed; a name without switch is an error.</summary>
        public static List<VMSwitch> Targets(SimulatedCmdlet cmdlet)
        {
            if (cmdlet.Has("VMSwitch")) return cmdlet.List<VMSwitch>("VMSwitch");
            List<VMSwitch> found = new List<VMSwitch>();
            foreach (string name in cmdlet.List<string>("Name"))
            {
                List<VMSwitch> matches = Matching(name);
                if (matches.Count == 0 && !WildcardPattern.ContainsWildcardCharacters(name)) cmdlet.Output.Fail(Refusal.Invalid(Texts.Host("switch_not_found", name)).ToRecord());
                found.AddRange(matches);
            }
            return found;
        }

        public static void Change(SimulatedCmdlet cmdlet, VMSwitch target, Action<Node, Node> change)
        {
            string id = target.Source.Text("Id");
            World.Current.Change(delegate(WorldChange edit)
            {
                Node switches = edit.Edit("switches");
                Node node = switches.Find("Switches", "Id", id);
                if (node == null) throw target.Gone();
                change(switches, node);
                CallLog.Effect(edit, cmdlet.CommandName, id);
            });
        }
    }

    /// <summary>Lists of VLAN numbers, written as `1-4,9`.</summary>
    internal static class VlanNumbers
    {
        public static List<object> Expand(string text)
        {
            List<object> numbers = new List<object>();
            foreach (string range in text.Split(new[] { ',' }, StringSplitOptions.RemoveEmptyEntries))
            {
                string[] ends = range.Split('-');
                for (int number = int.Parse(ends[0]); number <= int.Parse(ends[ends.Length - 1]); number++) numbers.Add(number);
            }
            return numbers;
        }
    }

    /// <summary>Cmdlets on the network adapters of machines.</summary>
    public abstract class AdapterCmdlet : SimulatedCmdlet
    {
        internal List<VMNetworkAdapter> Adapters(string nameParameter)
        {
            if (Has("VMNetworkAdapter")) return List<VMNetworkAdapter>("VMNetworkAdapter");
            List<VirtualMachineBase> owners = new List<VirtualMachineBase>();
            if (Has("VMSnapshot")) foreach (VMSnapshot checkpoint in List<VMSnapshot>("VMSnapshot")) owners.Add(checkpoint);
            else if (Flag("All")) owners.AddRange(VirtualMachine.Matching("*"));
            else foreach (VirtualMachine machine in OwnersByName()) owners.Add(machine);
            List<string> names = List<string>(nameParameter);
            List<VMNetworkAdapter> adapters = new List<VMNetworkAdapter>();
            foreach (VirtualMachineBase owner in owners)
            {
                foreach (VMNetworkAdapter adapter in owner.Parts<VMNetworkAdapter>("NetworkAdapters"))
                {
                    bool wanted = names.Count == 0 || names.Exists(delegate(string name) { return string.Equals(name, adapter.Name, StringComparison.OrdinalIgnoreCase); });
                    if (wanted) adapters.Add(adapter);
                }
            }
            if (adapters.Count == 0 && names.Count > 0) Output.Fail(Refusal.NotFound(Texts.Host("part_not_found", "network adapter")).ToRecord());
            return adapters;
        }

        // Here -Name is the adapter's, so machines are named by -VMName alone.
        private List<VirtualMachine> OwnersByName()
        {
            return Has("VM") || Has("VMName") ? Targets() : new List<VirtualMachine>();
        }

        internal void ChangeAdapters(List<VMNetworkAdapter> adapters, Action<Node, Node> change)
        {
            foreach (VMNetworkAdapter adapter in adapters)
            {
                VMNetworkAdapter target = adapter;
                if (!Output.ShouldProcess(target.Name, CommandName)) continue;
                Guarded(target.Owner, delegate
                {
                    string id = target.Source.Text("Id");
                    ChangeMachine(target.Owner, delegate(Node machine)
                    {
                        Node settings = machine.Child("Settings");
                        change(settings, settings.Find("NetworkAdapters", "Id", id));
                    });
                    if (Flag("Passthru") && target.Find() != null) Output.Emit(target);
                });
            }
        }
    }
}

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class GetVMSwitch : SimulatedCmdlet
    {
        internal override bool HidesWithoutPermission { get { return true; } }

        internal override void Work()
        {
            if (Faults.HidesMachines) return;
            if (Has("Id"))
            {
                foreach (Guid id in List<Guid>("Id"))
                {
                    Node node = World.Current.Document("switches").Find("Switches", "Id", id.ToString());
                    if (node == null) Output.Fail(Refusal.NotFound(Texts.Host("switch_not_found", id)).ToRecord());
                    else Output.Emit(VMSwitch.Of(node));
                }
                return;
            }
            List<VMSwitch> found = Has("Name") ? Switching.Targets(this) : Switching.Matching("*");
            List<VMSwitchType> types = List<VMSwitchType>("SwitchType");
            foreach (VMSwitch one in found) if (types.Count == 0 || types.Contains(one.SwitchType)) Output.Emit(one);
        }
    }

    public partial class NewVMSwitch : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (!Output.ShouldProcess(Text("Name"), CommandName)) return;
            Node node = new Node().With("Id", Has("Id") ? Text("Id").ToLowerInvariant() : Guid.NewGuid().ToString()).With("Name", Text("Name"))
                .With("SwitchType", Has("SwitchType") ? Text("SwitchType") : "External").With("Notes", Text("Notes"));
            if (Has("NetAdapterName")) node["NetAdapterInterfaceDescription"] = string.Join(",", List<string>("NetAdapterName").ToArray());
            World.Current.Change(delegate(WorldChange change)
            {
                change.Edit("switches").Items("Switches").Add(node);
                CallLog.Effect(change, CommandName, Text("Name"));
            });
            Output.Emit(VMSwitch.Of(node));
        }
    }

    public partial class SetVMSwitch : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (!Has("SwitchType") && !Has("Notes") && !Has("AllowManagementOS") && !Has("NetAdapterName") && !Has("NetAdapterInterfaceDescription")) throw Refusal.Invalid(Texts.Host("nothing_to_set"));
            foreach (VMSwitch target in Switching.Targets(this))
            {
                if (!Output.ShouldProcess(target.Name, CommandName)) continue;
                Switching.Change(this, target, delegate(Node switches, Node node)
                {
                    if (Has("Notes")) node["Notes"] = Text("Notes");
                    if (Has("SwitchType")) node["SwitchType"] = Text("SwitchType");
                    if (Has("AllowManagementOS")) node["SwitchType"] = Flag("AllowManagementOS") ? "Internal" : "Private";
                });
                if (Flag("Passthru")) Output.Emit(target);
            }
        }
    }

    public partial class RenameVMSwitch : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VMSwitch target in Switching.Targets(this))
            {
                if (!Output.ShouldProcess(target.Name, CommandName)) continue;
                Switching.Change(this, target, delegate(Node switches, Node node) { node["Name"] = Text("NewName"); });
                if (Flag("Passthru")) Output.Emit(target);
            }
        }
    }

    public partial class RemoveVMSwitch : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VMSwitch target in Switching.Targets(this))
            {
                if (!Output.ShouldProcess(target.Name, CommandName)) continue;
                string id = target.Source.Text("Id");
                if (id == NewWorld.DefaultSwitchId) throw Refusal.Invalid(Texts.Host("switch_fixed"));
                foreach (Node machine in Machine.All())
                {
                    if (Machine.State(machine) != "Off" && machine.Child("Settings").Find("NetworkAdapters", "SwitchId", id) != null) throw Refusal.Busy(Texts.Host("switch_used", target.Name));
                }
                if (!Flag("Force") && !Output.ShouldContinue("Do you want to remove the virtual switch \"" + target.Name + "\"?", "Confirm")) continue;
                Switching.Change(this, target, delegate(Node switches, Node node) { switches.Items("Switches").Remove(node); });
            }
        }
    }

    public partial class GetVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            if (Flag("ManagementOS") || Flag("All"))
            {
                foreach (object adapter in Switching.HostAdapters())
                {
                    if (!Has("SwitchName") || ((VMInternalNetworkAdapter)adapter).SwitchName == Text("SwitchName")) Output.Emit(adapter);
                }
            }
            if (Flag("ManagementOS")) return;
            foreach (VMNetworkAdapter adapter in Adapters("Name")) Output.Emit(adapter);
        }
    }

    public partial class AddVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            Node link = Text("SwitchName").Length == 0 ? null : Switching.ByName(Text("SwitchName"));
            if (link == null && Text("SwitchName").Length > 0) throw Refusal.Invalid(Texts.Host("switch_not_found", Text("SwitchName")));
            foreach (VirtualMachine machine in Targets())
            {
                VirtualMachine target = machine;
                if (!Output.ShouldProcess(target.Name, CommandName)) continue;
                Guarded(target, delegate
                {
                    if (target.Generation == 1) Power.Require(target.MachineNode, "Off");
                    Node adapter = MachineFactory.Adapter(target.MachineId, Has("Name") ? Text("Name") : Texts.Host("network_adapter"), link);
                    if (Has("StaticMacAddress")) AdapterSettings.SetAddress(adapter, Text("StaticMacAddress"));
                    if (Flag("IsLegacy")) adapter["IsLegacy"] = true;
                    ChangeMachine(target, delegate(Node node) { node.Child("Settings").Items("NetworkAdapters").Add(adapter); });
                    if (Flag("Passthru")) Output.Emit(VMComponentObject.Item<VMNetworkAdapter>(target, "NetworkAdapters", adapter));
                });
            }
        }
    }

    public partial class SetVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            ChangeAdapters(Adapters("Name"), delegate(Node settings, Node adapter)
            {
                if (Has("StaticMacAddress")) AdapterSettings.SetAddress(adapter, Text("StaticMacAddress"));
                if (Flag("DynamicMacAddress")) adapter["DynamicMacAddressEnabled"] = true;
                foreach (string name in new[] { "MacAddressSpoofing", "DhcpGuard", "RouterGuard", "IeeePriorityTag", "AllowTeaming", "DeviceNaming" }) if (Has(name)) adapter[name] = Stored.Of(Value(name));
                if (Has("PortMirroring")) adapter["PortMirroringMode"] = Text("PortMirroring");
                if (Has("VmqWeight")) adapter["VMQWeight"] = Value<long>("VmqWeight", 100);
            });
        }
    }

    public partial class RemoveVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            ChangeAdapters(Adapters("Name"), delegate(Node settings, Node adapter) { settings.Items("NetworkAdapters").Remove(adapter); });
        }
    }

    public partial class RenameVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            ChangeAdapters(Adapters("Name"), delegate(Node settings, Node adapter) { adapter["Name"] = Text("NewName"); });
        }
    }

    public partial class ConnectVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            Node link = Has("VMSwitch") ? List<VMSwitch>("VMSwitch")[0].Source : Switching.ByName(Text("SwitchName"));
            if (link == null) throw Refusal.Invalid(Texts.Host("switch_not_found", Text("SwitchName")));
            ChangeAdapters(Adapters("Name"), delegate(Node settings, Node adapter) { MachineFactory.Connect(adapter, link); });
        }
    }

    public partial class DisconnectVMNetworkAdapter : AdapterCmdlet
    {
        internal override void Work()
        {
            ChangeAdapters(Adapters("Name"), delegate(Node settings, Node adapter) { MachineFactory.Connect(adapter, null); });
        }
    }

    public partial class GetVMNetworkAdapterVlan : AdapterCmdlet
    {
        internal override void Work()
        {
            foreach (VMNetworkAdapter adapter in Adapters("VMNetworkAdapterName")) Output.Emit(adapter.Vlan());
        }
    }

    public partial class SetVMNetworkAdapterVlan : AdapterCmdlet
    {
        internal override void Work()
        {
            ChangeAdapters(Adapters("VMNetworkAdapterName"), delegate(Node settings, Node adapter)
            {
                Node vlan = new Node();
                if (Flag("Access"))
                {
                    if (!Has("VlanId") || Value<int>("VlanId", 0) < 1 || Value<int>("VlanId", 0) > 4094) throw Refusal.Invalid(Texts.Host("failed"));
                    vlan.With("OperationMode", "Access").With("AccessVlanId", Value<long>("VlanId", 0));
                }
                else if (Flag("Trunk")) vlan.With("OperationMode", "Trunk").With("NativeVlanId", Value<long>("NativeVlanId", 0)).With("AllowedVlanIdListString", Text("AllowedVlanIdList"));
                else if (Flag("Isolated") || Flag("Community") || Flag("Promiscuous"))
                {
                    vlan.With("OperationMode", "Private").With("PrimaryVlanId", Value<long>("PrimaryVlanId", 0)).With("SecondaryVlanId", Value<long>("SecondaryVlanId", 0))
                        .With("SecondaryVlanIdListString", Text("SecondaryVlanIdList")).With("PrivateVlanMode", Flag("Isolated") ? "Isolated" : Flag("Community") ? "Community" : "Promiscuous");
                }
                else if (!Flag("Untagged")) throw Refusal.Invalid(Texts.Host("nothing_to_set"));
                adapter["Vlan"] = vlan;
            });
        }
    }
}

namespace HvlabSimulation
{
    internal static class AdapterSettings
    {
        /// <summary>Stores a fixed address: twelve upper-case digits, whatever separators were given.</summary>
        public static void SetAddress(Node adapter, string address)
        {
            string digits = address.Replace("-", "").Replace(":", "").ToUpperInvariant();
            ulong number;
            if (digits.Length != 12 || !ulong.TryParse(digits, NumberStyles.HexNumber, null, out number)) throw Refusal.Invalid(Texts.Host("failed"));
            adapter["MacAddress"] = digits;
            adapter["DynamicMacAddressEnabled"] = false;
        }
    }
}
