using System;
using System.Collections.Generic;
using HvlabSimulation;

namespace Microsoft.HyperV.PowerShell
{
    public partial class VMIntegrationComponent
    {
        internal override object Member(string name)
        {
            Node service = Source;
            string status = Status(service);
            switch (name)
            {
                case "Name": return Texts.Host(service.Text("Key"));
                case "OperationalStatus": return new List<object> { status };
                case "PrimaryOperationalStatus": return status;
                case "PrimaryStatusDescription": return StatusText(status);
                case "StatusDescription": return new List<object> { StatusText(status) };
                case "SecondaryOperationalStatus": return null;
                case "SecondaryStatusDescription": return null;
                default: return base.Member(name);
            }
        }

        // A disabled service says OK whatever the guest does.
        private string Status(Node service)
        {
            if (!service.Flag("Enabled") || Owner is VMSnapshot) return "Ok";
            return Machine.GuestAnswers(Owner.MachineNode) ? "Ok" : "NoContact";
        }

        private static string StatusText(string status) { return Texts.Host(status == "Ok" ? "ok" : "no_contact"); }
    }

    public partial class VMNetworkAdapter
    {
        internal Node Link
        {
            get { return World.Current.Document("switches").Find("Switches", "Id", Source.Text("SwitchId")); }
        }

        internal override object Member(string name)
        {
            Node adapter = Source;
            bool live = !(Owner is VMSnapshot);
            switch (name)
            {
                case "SwitchName": return Link == null ? adapter.Text("LastSwitchName") : Link.Text("Name");
                case "SwitchId": return adapter.Has("SwitchId") ? adapter.Get("SwitchId") : null;
                case "Connected": return Link != null;
                case "IPAddresses": return live ? Machine.Addresses(Owner.MachineNode, adapter) : new List<object>();
                case "Status": return new List<object> { live && Machine.Runs(Owner.MachineNode) ? "Ok" : "Unknown" };
                case "StatusDescription": return new List<object> { live && Machine.Runs(Owner.MachineNode) ? Texts.Host("ok") : "" };
                case "IsSynthetic": return !adapter.Flag("IsLegacy");
                case "AdapterId": return adapter.Text("Id");
                case "VlanSetting": return Vlan();
                case "MacAddressSpoofing":
                case "DhcpGuard":
                case "RouterGuard":
                case "IeeePriorityTag":
                case "AllowTeaming":
                case "DeviceNaming": return adapter.Has(name) ? adapter.Get(name) : "Off";
                case "IovUsage":
                case "VMQWeight": return adapter.Number(name, name == "VMQWeight" ? 100 : 0);
                case "VrssVmbusChannelAffinityPolicy":
                case "VrssVmbusChannelAffinityPolicyRequested": return "Strong";
                default: return base.Member(name);
            }
        }

        internal VMNetworkAdapterVlanSetting Vlan()
        {
            return new VMNetworkAdapterVlanSetting { Parent = this, Find = delegate
            {
                Node adapter = Find();
                return adapter == null ? null : adapter.Get("Vlan") as Node ?? new Node();
            } };
        }
    }

    public partial class VMNetworkAdapterVlanSetting
    {
        internal VMNetworkAdapter Parent { get; set; }

        internal override object Member(string name)
        {
            switch (name)
            {
                case "ParentAdapter": return Parent;
                case "OperationMode": return Source.Has(name) ? Source.Get(name) : "Untagged";
                case "AllowedVlanIdList": return VlanNumbers.Expand(Source.Text("AllowedVlanIdListString"));
                case "SecondaryVlanIdList": return VlanNumbers.Expand(Source.Text("SecondaryVlanIdListString"));
                default: return base.Member(name);
            }
        }
    }

    public partial class VMInternalNetworkAdapter
    {
        internal Node Link
        {
            get { return World.Current.Document("switches").Find("Switches", "Id", Source.Text("Id")); }
        }

        internal override object Member(string name)
        {
            switch (name)
            {
                case "Name":
                case "SwitchName": return Source.Text("Name");
                case "SwitchId": return Source.Get("Id");
                case "IsManagementOs": return true;
                case "VMId": return Guid.Empty;
                case "VMName":
                case "VMSnapshotName": return "";
                case "VMSnapshotId": return Guid.Empty;
                case "DeviceId": return "{" + Source.Text("Id").ToUpperInvariant() + "}";
                case "MacAddress": return "00155D" + Source.Text("Id").Substring(0, 6).ToUpperInvariant();
                case "Status": return new List<object> { "Ok" };
                case "StatusDescription": return new List<object> { Texts.Host("ok") };
                default: return null;
            }
        }
    }

    public partial class VMDriveController
    {
        internal string Kind { get; set; }

        internal override object Member(string name)
        {
            if (name == "Drives") return DrivesOf();
            return base.Member(name);
        }

        private List<Drive> DrivesOf()
        {
            List<Drive> drives = new List<Drive>();
            foreach (HardDiskDrive drive in Owner.Parts<HardDiskDrive>("HardDrives")) if (Holds(drive)) drives.Add(drive);
            foreach (DvdDrive drive in Owner.Parts<DvdDrive>("DVDDrives")) if (Holds(drive)) drives.Add(drive);
            return drives;
        }

        private bool Holds(Drive drive)
        {
            return drive.ControllerType.ToString() == Kind && drive.ControllerNumber == ControllerNumber;
        }
    }

    public partial class DvdDrive
    {
        internal override object Member(string name)
        {
            return name == "DvdMediaType" ? (Path.Length > 0 ? "ISO" : "None") : base.Member(name);
        }
    }

    public partial class VMProcessor
    {
        internal override object Member(string name)
        {
            switch (name)
            {
                case "OperationalStatus": return new List<object> { "Ok", "HostResourceProtectionDisabled" };
                case "StatusDescription": return new List<object> { "OK", "Host resource protection is disabled." };
                default: return base.Member(name);
            }
        }
    }

    public partial class VMFirmware
    {
        internal override object Member(string name)
        {
            return name == "BootOrder" ? Boot.Sources(Owner) : base.Member(name);
        }
    }

    public partial class VMBootSource
    {
        internal VMComponentObject Target { get; set; }

        internal override object Member(string name) { return name == "Device" ? Target : base.Member(name); }
    }
}
