using System;
using System.Collections.Generic;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Boot order of Generation 2 firmware. The document holds the ids of devices, in order.</summary>
    internal static class Boot
    {
        public static readonly Dictionary<string, string> Templates = new Dictionary<string, string>
        {
            { "MicrosoftWindows", "1734c6e8-3154-4dda-ba5f-a874cc483422" },
            { "MicrosoftUEFICertificateAuthority", "272e7447-90a4-4563-a4b9-8e4ab00526ce" },
        };

        /// <summary>Boot entries: those in the stored order, then devices that were added since.</summary>
        public static List<VMBootSource> Sources(VirtualMachineBase owner)
        {
            List<VMComponentObject> devices = new List<VMComponentObject>();
            foreach (VMNetworkAdapter adapter in owner.Parts<VMNetworkAdapter>("NetworkAdapters")) devices.Add(adapter);
            foreach (HardDiskDrive drive in owner.Parts<HardDiskDrive>("HardDrives")) devices.Add(drive);
            foreach (DvdDrive drive in owner.Parts<DvdDrive>("DVDDrives")) devices.Add(drive);

            List<VMBootSource> sources = new List<VMBootSource>();
            foreach (object stored in owner.Settings.Child("Firmware").Clone().Items("Order"))
            {
                VMComponentObject device = devices.Find(delegate(VMComponentObject one) { return IdOf(one) == (string)stored; });
                if (device != null) sources.Add(ToSource(owner, device));
                devices.Remove(device);
            }
            foreach (VMComponentObject device in devices) sources.Add(ToSource(owner, device));
            return sources;
        }

        public static string IdOf(VMComponentObject device) { return device.Source.Text("Id"); }

        private static VMBootSource ToSource(VirtualMachineBase owner, VMComponentObject device)
        {
            bool network = device is VMNetworkAdapter;
            Node node = new Node().With("BootType", network ? "Network" : "Drive")
                .With("Description", network ? "EFI Network" : "EFI SCSI Device")
                .With("FirmwarePath", "\\AcpiEx(VMBus,0,0)\\VenHw(" + IdOf(device) + ")");
            return new VMBootSource { Owner = owner, Target = device, Find = delegate { return node; } };
        }
    }
}
