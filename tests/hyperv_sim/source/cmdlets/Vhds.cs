using System;
using System.Collections.Generic;
using System.IO;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;
using Microsoft.Virtualization.Client.Management;

namespace Microsoft.Vhd.PowerShell.Cmdlets
{
    public partial class NewVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (string given in List<string>("Path"))
            {
                string path = FullPath(given);
                string parent = Has("ParentPath") ? FullPath(Text("ParentPath")) : null;
                if (parent != null && !VhdFile.Exists(parent)) throw Refusal.Invalid(Texts.Host("vhd_failed", "create", path, Texts.Host("file_missing") + " (0x80070002)."));
                if (VhdFile.FormatOf(path) == "Unknown") throw Refusal.Invalid(Texts.Host("failed"));
                if (!Output.ShouldProcess(path, CommandName)) continue;
                string type = parent != null ? "Differencing" : Flag("Fixed") ? "Fixed" : "Dynamic";
                Node more = new Node();
                foreach (string name in new[] { "BlockSizeBytes", "LogicalSectorSizeBytes", "PhysicalSectorSizeBytes" })
                {
                    if (Has(name) && Value<long>(name, 0) > 0) more[name.Substring(0, name.Length - 5)] = Value<long>(name, 0);
                }
                Wait(Faults.Settings.Real("disk_seconds", 0), "Creating");
                VhdFile file = VhdFile.Create(path, type, Value<ulong>("SizeBytes", 0), parent, more);
                World.Current.Change(delegate(WorldChange change) { CallLog.Effect(change, CommandName, path); });
                Output.Emit(file.ToObject());
            }
        }
    }

    public partial class GetVHD : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (Has("DiskNumber")) throw Refusal.NotFound(Texts.Host("failed"));
            if (!Has("VMId"))
            {
                foreach (string path in List<string>("Path")) Show(FullPath(path));
                return;
            }
            foreach (Guid id in List<Guid>("VMId"))
            {
                if (!World.Current.Exists(Machine.DocumentOf(id))) throw Refusal.NotFound(Texts.Host("vm_id_not_found", id));
                foreach (HardDiskDrive drive in VirtualMachine.Of(id).Parts<HardDiskDrive>("HardDrives")) Show(drive.Path);
            }
        }

        private void Show(string path)
        {
            try
            {
                foreach (Node locked in Faults.Settings.Nodes("locked_disks"))
                {
                    if (DiskUse.Same(locked.Text("path"), path)) throw Refusal.Busy(Texts.Host("in_use"));
                }
                Output.Emit(VhdFile.Open(path).ToObject());
            }
            catch (Refusal refusal)
            {
                Output.Fail(refusal.ToRecord());
            }
        }
    }

    public partial class ResizeVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "resize", delegate(VhdFile file)
            {
                ulong size = Flag("ToMinimumSize") ? Values.To<ulong>(file.Node.Get("MinimumSize") ?? file.Node.Get("Size")) : Value<ulong>("SizeBytes", 0);
                if (file.Node.Text("VhdFormat") == "VHD" && size <= Values.To<ulong>(file.Node.Get("Size")))
                {
                    throw Refusal.Failed(Texts.Host("vhd_failed", "resize", file.Path, Texts.Host("resize_smaller")));
                }
                if (DiskWork.HasChildren(file.Path)) throw Refusal.Busy(Texts.Host("in_use"));
                if (file.Node.Has("MinimumSize") && size < Values.To<ulong>(file.Node.Get("MinimumSize"))) throw Refusal.Failed(Texts.Host("vhd_failed", "resize", file.Path, "(0xC03A0025)"));
                file.Node["Size"] = size;
                if (file.Node.Text("VhdType") == "Fixed") file.Node["FileSize"] = size + 512;
                file.Save();
            });
        }
    }

    public partial class ConvertVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "convert", delegate(VhdFile file)
            {
                DiskWork.RequireOffline(file.Path);
                string path = FullPath(Text("DestinationPath"));
                string type = Has("VHDType") ? Text("VHDType") : file.Node.Text("VhdType") == "Differencing" ? "Dynamic" : file.Node.Text("VhdType");
                Wait(Faults.Settings.Real("disk_seconds", 0), "Converting");
                VhdFile made = VhdFile.Create(path, type, Values.To<ulong>(file.Node.Get("Size")), Has("ParentPath") ? FullPath(Text("ParentPath")) : null, new Node());
                if (Flag("DeleteSource")) File.Delete(file.LocalPath);
                if (Flag("Passthru")) Output.Emit(made.ToObject());
            });
        }
    }

    public partial class OptimizeVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "compact", delegate(VhdFile file)
            {
                DiskWork.RequireOffline(file.Path);
                Wait(Faults.Settings.Real("disk_seconds", 0), "Compacting");
                if (file.Node.Text("VhdType") != "Fixed") file.Node["FileSize"] = 4194304L;
                file.Save();
            });
        }
    }

    public partial class MergeVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "merge", delegate(VhdFile file)
            {
                DiskWork.RequireOffline(file.Path);
                if (file.Node.Text("VhdType") != "Differencing") throw Refusal.Invalid(Texts.Host("vhd_failed", "merge", file.Path, "(0xC03A001B)"));
                string code;
                string fault = VhdFile.ChainFault(file.Path, out code);
                if (fault != null) throw Refusal.Failed(Texts.Host("vhd_failed", "merge", file.Path, fault + " (" + code + ")."));
                string target = Has("DestinationPath") ? FullPath(Text("DestinationPath")) : file.LocateParent();
                Wait(Faults.Settings.Real("disk_seconds", 0), "Merging");
                VhdFile below = VhdFile.Open(target);
                below.Node["DataId"] = file.Node.Text("DataId");
                below.Save();
                File.Delete(file.LocalPath);
                if (Flag("Passthru")) Output.Emit(below.ToObject());
            });
        }
    }

    public partial class SetVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "modify", delegate(VhdFile file)
            {
                if (Has("ParentPath"))
                {
                    VhdFile parent = VhdFile.Open(FullPath(Text("ParentPath")));
                    bool same = parent.Node.Text("DataId") == file.Node.Text("ParentDataId");
                    if (!same && !Flag("IgnoreIdMismatch")) throw Refusal.Failed(Texts.Host("vhd_failed", "modify", file.Path, Texts.Host("chain_mismatch") + " (0xC03A000E)."));
                    file.Node["ParentPath"] = parent.Path;
                    file.Node["ParentDataId"] = parent.Node.Text("DataId");
                }
                if (Has("PhysicalSectorSizeBytes")) file.Node["PhysicalSectorSize"] = Value<long>("PhysicalSectorSizeBytes", 512);
                if (Flag("ResetDiskIdentifier")) file.Node["DiskIdentifier"] = Guid.NewGuid().ToString().ToUpperInvariant();
                file.Save();
            });
        }
    }

    public partial class TestVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (string given in List<string>("Path"))
            {
                string path = FullPath(given);
                string code;
                string fault = VhdFile.ChainFault(path, out code);
                if (fault != null) Output.Fail(Refusal.Failed(Texts.Host("vhd_failed", "validate", path, fault + " (" + code + ").")).ToRecord());
                else Output.Emit(true);
            }
        }
    }

    public partial class MountVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "mount", delegate(VhdFile file)
            {
                DiskWork.RequireOffline(file.Path);
                file.Node["Mounted"] = true;
                file.Save();
            });
        }
    }

    public partial class DismountVhd : SimulatedCmdlet
    {
        internal override void Work()
        {
            DiskWork.ForEach(this, "dismount", delegate(VhdFile file)
            {
                file.Node["Mounted"] = false;
                file.Save();
            });
        }
    }
}

namespace HvlabSimulation
{
    /// <summary>What the disk cmdlets share.</summary>
    internal static class DiskWork
    {
        public static void ForEach(SimulatedCmdlet cmdlet, string verb, Action<VhdFile> work)
        {
            foreach (string given in cmdlet.List<string>("Path"))
            {
                string path = cmdlet.FullPath(given);
                if (!cmdlet.Output.ShouldProcess(path, cmdlet.CommandName)) continue;
                try
                {
                    VhdFile file = VhdFile.Open(path);
                    work(file);
                    World.Current.Change(delegate(WorldChange change) { CallLog.Effect(change, cmdlet.CommandName, path); });
                    bool emitsItself = verb == "convert" || verb == "merge";
                    if (cmdlet.Flag("Passthru") && !emitsItself) cmdlet.Output.Emit(file.ToObject());
                }
                catch (Refusal refusal)
                {
                    cmdlet.Output.Fail(refusal.ToRecord());
                }
            }
        }

        public static void RequireOffline(string path)
        {
            if (DiskUse.RunningOwner(path) != null) throw Refusal.Busy(Texts.Host("in_use"));
        }

        public static bool HasChildren(string path)
        {
            foreach (Node machine in Machine.All())
            {
                foreach (Node checkpoint in machine.Nodes("Checkpoints"))
                {
                    foreach (Node drive in checkpoint.Child("Settings").Nodes("HardDrives")) if (DiskUse.Same(drive.Text("Path"), path)) return true;
                }
            }
            return false;
        }
    }
}
