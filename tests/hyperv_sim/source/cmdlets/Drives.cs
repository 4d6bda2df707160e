using System;
using System.Collections.Generic;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Cmdlets on the drives of a machine.</summary>
    public abstract class DriveCmdlet<T> : SimulatedCmdlet where T : Drive, new()
    {
        internal abstract string DriveList { get; }
        internal abstract string ObjectParameter { get; }

        internal List<T> Drives()
        {
            if (Has(ObjectParameter)) return List<T>(ObjectParameter);
            List<T> drives = new List<T>();
            foreach (VirtualMachineBase owner in Owners())
            {
                foreach (T drive in owner.Parts<T>(DriveList)) if (Fits(drive)) drives.Add(drive);
            }
            return drives;
        }

        internal List<VirtualMachineBase> Owners()
        {
            List<VirtualMachineBase> owners = new List<VirtualMachineBase>();
            if (Has("VMSnapshot")) foreach (VMSnapshot checkpoint in List<VMSnapshot>("VMSnapshot")) owners.Add(checkpoint);
            else if (Has("VMDriveController")) foreach (VMDriveController controller in List<VMDriveController>("VMDriveController")) owners.Add(controller.Owner);
            else foreach (VirtualMachine machine in Targets()) owners.Add(machine);
            return owners;
        }

        private bool Fits(T drive)
        {
            if (Has("ControllerType") && drive.ControllerType.ToString() != Text("ControllerType")) return false;
            if (Has("ControllerNumber") && drive.ControllerNumber != Value<int>("ControllerNumber", 0)) return false;
            return !Has("ControllerLocation") || drive.ControllerLocation == Value<int>("ControllerLocation", 0);
        }

        internal void ShowDrives() { foreach (T drive in Drives()) Output.Emit(drive); }

        internal void RemoveDrives()
        {
            List<T> drives = Drives();
            if (drives.Count == 0) throw Refusal.NotFound(Texts.Host("part_not_found", "drive"));
            foreach (T drive in drives)
            {
                T target = drive;
                if (!Output.ShouldProcess(target.VMName, CommandName)) continue;
                Guarded(target.Owner, delegate
                {
                    if (target.ControllerType.ToString() == "IDE") Power.Require(target.Owner.MachineNode, "Off");
                    string id = target.Id;
                    ChangeMachine(target.Owner, delegate(Node node)
                    {
                        Node settings = node.Child("Settings");
                        settings.Items(DriveList).Remove(settings.Find(DriveList, "Id", id));
                    });
                });
            }
        }

        /// <summary>Adds a drive at the place that the caller named, else at the first free one.</summary>
        internal void AddDrives(string path)
        {
            foreach (VirtualMachineBase owner in Owners())
            {
                VirtualMachineBase target = owner;
                if (!Output.ShouldProcess(target.MachineNode.Text("Name"), CommandName)) continue;
                Guarded(target, delegate
                {
                    string id = "";
                    bool first = target.MachineNode.Child("Settings").Number("Generation") == 1;
                    string type = Has("ControllerType") ? Text("ControllerType") : first ? "IDE" : "SCSI";
                    if (type == "IDE") Power.Require(target.MachineNode, "Off");
                    ChangeMachine(target, delegate(Node node)
                    {
                        Node drive = Place(node, type, path);
                        node.Child("Settings").Items(DriveList).Add(drive);
                        id = drive.Text("Id");
                    });
                    if (Flag("Passthru")) Output.Emit(VMComponentObject.Item<T>(target, DriveList, new Node().With("Id", id)));
                });
            }
        }

        private Node Place(Node machine, string type, string path)
        {
            Node settings = machine.Child("Settings");
            int controllers = type == "IDE" ? 2 : settings.Items("ScsiControllers").Count;
            int locations = type == "IDE" ? 2 : 64;
            if (type == "IDE" && settings.Number("Generation") == 2) controllers = 0;
            for (int number = 0; number < controllers; number++)
            {
                if (Has("ControllerNumber") && Value<int>("ControllerNumber", 0) != number) continue;
                for (int location = 0; location < locations; location++)
                {
                    if (Has("ControllerLocation") && Value<int>("ControllerLocation", 0) != location) continue;
                    if (!DrivePlaces.Taken(settings, type, number, location)) return MachineFactory.Drive(machine.Id("Id"), DriveList, type, number, location, path);
                }
            }
            throw Refusal.Failed(Texts.Host("failed"));
        }

        /// <summary>Puts another medium into drives, or moves them.</summary>
        internal void SetDrives(bool checkFile)
        {
            List<T> drives = Drives();
            if (drives.Count == 0) throw Refusal.NotFound(Texts.Host("part_not_found", "drive"));
            string path = Text("Path").Length > 0 ? FullPath(Text("Path")) : "";
            if (checkFile && path.Length > 0 && !VhdFile.Exists(path)) throw Refusal.NotFound(Texts.Host("vhd_missing", path));
            foreach (T drive in drives)
            {
                T target = drive;
                if (!Output.ShouldProcess(target.VMName, CommandName)) continue;
                Guarded(target.Owner, delegate
                {
                    string id = target.Id;
                    ChangeMachine(target.Owner, delegate(Node node)
                    {
                        Node part = node.Child("Settings").Find(DriveList, "Id", id);
                        if (Has("Path")) part["Path"] = path;
                        if (Has("ToControllerType")) part["ControllerType"] = Text("ToControllerType");
                        if (Has("ToControllerNumber")) part["ControllerNumber"] = Value<long>("ToControllerNumber", 0);
                        if (Has("ToControllerLocation")) part["ControllerLocation"] = Value<long>("ToControllerLocation", 0);
                        foreach (string name in new[] { "MaximumIOPS", "MinimumIOPS", "SupportPersistentReservations" }) if (Has(name)) part[name] = Stored.Of(Value(name));
                    });
                    if (Flag("Passthru")) Output.Emit(target);
                });
            }
        }
    }

    /// <summary>Which places of the controllers are taken.</summary>
    internal static class DrivePlaces
    {
        public static bool Taken(Node settings, string type, int number, int location)
        {
            foreach (string list in new[] { "HardDrives", "DVDDrives" })
            {
                foreach (Node drive in settings.Nodes(list))
                {
                    if (drive.Text("ControllerType") == type && drive.Number("ControllerNumber") == number && drive.Number("ControllerLocation") == location) return true;
                }
            }
            return false;
        }
    }
}

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class GetVMHardDiskDrive : DriveCmdlet<HardDiskDrive>
    {
        internal override string DriveList { get { return "HardDrives"; } }
        internal override string ObjectParameter { get { return "VMHardDiskDrive"; } }
        internal override void Work() { ShowDrives(); }
    }

    public partial class AddVMHardDiskDrive : DriveCmdlet<HardDiskDrive>
    {
        internal override string DriveList { get { return "HardDrives"; } }
        internal override string ObjectParameter { get { return "VMHardDiskDrive"; } }

        internal override void Work()
        {
            string path = Has("Path") ? FullPath(Text("Path")) : "";
            if (path.Length > 0 && !Flag("AllowUnverifiedPaths") && !VhdFile.Exists(path)) throw Refusal.NotFound(Texts.Host("vhd_missing", path));
            AddDrives(path);
        }
    }

    public partial class SetVMHardDiskDrive : DriveCmdlet<HardDiskDrive>
    {
        internal override string DriveList { get { return "HardDrives"; } }
        internal override string ObjectParameter { get { return "VMHardDiskDrive"; } }
        internal override void Work() { SetDrives(!Flag("AllowUnverifiedPaths")); }
    }

    public partial class RemoveVMHardDiskDrive : DriveCmdlet<HardDiskDrive>
    {
        internal override string DriveList { get { return "HardDrives"; } }
        internal override string ObjectParameter { get { return "VMHardDiskDrive"; } }
        internal override void Work() { RemoveDrives(); }
    }

    public partial class GetVMDvdDrive : DriveCmdlet<DvdDrive>
    {
        internal override string DriveList { get { return "DVDDrives"; } }
        internal override string ObjectParameter { get { return "VMDvdDrive"; } }
        internal override void Work() { ShowDrives(); }
    }

    public partial class AddVMDvdDrive : DriveCmdlet<DvdDrive>
    {
        internal override string DriveList { get { return "DVDDrives"; } }
        internal override string ObjectParameter { get { return "VMDvdDrive"; } }

        internal override void Work()
        {
            string path = Has("Path") && Text("Path").Length > 0 ? FullPath(Text("Path")) : "";
            if (path.Length > 0 && !Flag("AllowUnverifiedPaths") && !VhdFile.Exists(path)) throw Refusal.NotFound(Texts.Host("vhd_missing", path));
            AddDrives(path);
        }
    }

    public partial class SetVMDvdDrive : DriveCmdlet<DvdDrive>
    {
        internal override string DriveList { get { return "DVDDrives"; } }
        internal override string ObjectParameter { get { return "VMDvdDrive"; } }
        internal override void Work() { SetDrives(!Flag("AllowUnverifiedPaths")); }
    }

    public partial class RemoveVMDvdDrive : DriveCmdlet<DvdDrive>
    {
        internal override string DriveList { get { return "DVDDrives"; } }
        internal override string ObjectParameter { get { return "VMDvdDrive"; } }
        internal override void Work() { RemoveDrives(); }
    }

    public partial class GetVMScsiController : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets())
            {
                foreach (VMScsiController controller in machine.Parts<VMScsiController>("ScsiControllers"))
                {
                    controller.Kind = "SCSI";
                    if (!Has("ControllerNumber") || controller.ControllerNumber == Value<int>("ControllerNumber", 0)) Output.Emit(controller);
                }
            }
        }
    }

    public partial class AddVMScsiController : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Power.Require(machine.MachineNode, "Off");
                ChangeMachine(machine, delegate(Node node)
                {
                    List<object> controllers = node.Child("Settings").Items("ScsiControllers");
                    if (controllers.Count == 4) throw Refusal.Failed(Texts.Host("failed"));
                    controllers.Add(MachineFactory.Controller(machine.MachineId, controllers.Count));
                });
            });
        }
    }
}
