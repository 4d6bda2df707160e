using System;
using System.Collections.Generic;
using System.IO;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Exported machines: a folder with the document and copies of the disks.</summary>
    internal static class Transfer
    {
        public static void Export(SimulatedCmdlet cmdlet, VirtualMachineBase source, Node settings, string name, string path)
        {
            World world = World.Current;
            string folder = HostPath.Join(path, name);
            string local = HostPath.Local(world, folder);
            if (Directory.Exists(local)) throw Refusal.Failed(Texts.Host("export_exists", name, folder));
            double seconds = Faults.Duration(cmdlet.CommandName, source.MachineNode);
            cmdlet.ChangeMachine(source, delegate(Node machine) { Machine.Begin(machine, "ExportingVirtualMachine", "exporting", seconds); });
            foreach (string part in new[] { "Snapshots", "Virtual Hard Disks", "Virtual Machines" }) Directory.CreateDirectory(Path.Combine(local, part));
            cmdlet.Wait(seconds, "Exporting");

            Node copy = source.MachineNode.Clone();
            copy["Name"] = name;
            copy["Settings"] = settings.Clone();
            copy["State"] = "Off";
            copy.Remove("Pending");
            copy.Remove("Activity");
            if (source is VMSnapshot)
            {
                copy.Remove("Checkpoints");
                copy.Remove("CurrentCheckpoint");
            }
            CopyDisks(copy, HostPath.Join(folder, "Virtual Hard Disks"));
            copy.Child("Settings")["ConfigurationLocation"] = folder;
            File.WriteAllText(Path.Combine(local, "Virtual Machines", copy.Text("Id").ToUpperInvariant() + ".vmcx"), Json.Write(copy));
        }

        /// <summary>Copies every disk of a machine, parents too, and points the machine and the chains at the copies.</summary>
        public static void CopyDisks(Node machine, string folder)
        {
            World world = World.Current;
            Directory.CreateDirectory(HostPath.Local(world, folder));
            Dictionary<string, string> copied = new Dictionary<string, string>();
            List<Node> all = new List<Node> { machine.Child("Settings") };
            foreach (Node checkpoint in machine.Nodes("Checkpoints")) all.Add(checkpoint.Child("Settings"));
            foreach (Node settings in all)
            {
                foreach (Node drive in settings.Nodes("HardDrives"))
                {
                    if (drive.Text("Path").Length > 0) drive["Path"] = CopyChain(drive.Text("Path"), folder, copied);
                }
            }
        }

        private static string CopyChain(string path, string folder, Dictionary<string, string> copied)
        {
            string target;
            if (copied.TryGetValue(path, out target)) return target;
            VhdFile file = VhdFile.Open(path);
            target = HostPath.Join(folder, HostPath.NameOf(path));
            if (VhdFile.Exists(target)) throw Refusal.Failed(Texts.Host("export_exists", path, target));
            File.Copy(file.LocalPath, HostPath.Local(World.Current, target));
            copied[path] = target;
            if (file.Node.Text("VhdType") == "Differencing")
            {
                VhdFile copy = VhdFile.Open(target);
                copy.Node["ParentPath"] = CopyChain(file.LocateParent(), folder, copied);
                copy.Save();
            }
            return target;
        }

        /// <summary>Reads an exported or registered configuration file.</summary>
        public static Node Read(string path)
        {
            string local = HostPath.Local(World.Current, path);
            if (!File.Exists(local)) throw Refusal.NotFound(Texts.Host("failed"));
            try
            {
                return (Node)Json.Parse(World.ReadShared(local));
            }
            catch (FormatException)
            {
                throw Refusal.Unspecified(Texts.Host("failed"));
            }
        }

        /// <summary>The machine that an import would make, as the call wants it: with its id, and its disks where they are looked for.</summary>
        public static Node Plan(SimulatedCmdlet cmdlet)
        {
            Node machine = Read(cmdlet.FullPath(cmdlet.Text("Path")));
            if (cmdlet.Has("VhdSourcePath")) Redirect(machine, cmdlet.FullPath(cmdlet.Text("VhdSourcePath")));
            Node wanted = new Node().With("Copy", cmdlet.Flag("Copy"));
            foreach (string name in new[] { "VirtualMachinePath", "VhdDestinationPath" }) if (cmdlet.Has(name)) wanted[name] = cmdlet.FullPath(cmdlet.Text(name));
            machine["Wanted"] = wanted;
            if (!cmdlet.Flag("GenerateNewId")) return machine;
            Guid old = machine.Id("Id");
            Guid id = Guid.NewGuid();
            machine["Id"] = id.ToString();
            machine["Settings"] = MachineFactory.Rename(machine.Child("Settings"), old, id);
            return machine;
        }

        /// <summary>What stands in the way of an import. No number is known for a disk that is not there.</summary>
        public static List<VMCompatibilityError> Obstacles(Node machine)
        {
            List<VMCompatibilityError> obstacles = new List<VMCompatibilityError>();
            if (World.Current.Exists(Machine.DocumentOf(machine.Id("Id")))) obstacles.Add(new VMCompatibilityError { Message = Texts.Host("import_conflict"), MessageId = 40006 });
            foreach (Node adapter in machine.Child("Settings").Nodes("NetworkAdapters"))
            {
                if (adapter.Text("SwitchId").Length == 0 || World.Current.Document("switches").Find("Switches", "Id", adapter.Text("SwitchId")) != null) continue;
                obstacles.Add(new VMCompatibilityError { Message = Texts.Host("switch_not_found", ""), MessageId = 33012 });
            }
            foreach (Node settings in AllSettings(machine))
            {
                foreach (Node drive in settings.Nodes("HardDrives"))
                {
                    if (drive.Text("Path").Length > 0 && !VhdFile.Exists(drive.Text("Path"))) obstacles.Add(new VMCompatibilityError { Message = Texts.Host("vhd_missing", drive.Text("Path")) });
                }
            }
            return obstacles;
        }

        /// <summary>Makes a planned machine a real one.</summary>
        public static VirtualMachine Realize(SimulatedCmdlet cmdlet, Node machine)
        {
            Node wanted = machine.Child("Wanted");
            machine.Remove("Wanted");
            cmdlet.Wait(Faults.Duration(cmdlet.CommandName, machine), "Importing");
            machine["Created"] = Clock.Now;
            if (wanted.Flag("Copy")) MoveIn(machine, wanted);
            MachineFiles.Write(machine);
            Guid id = machine.Id("Id");
            World.Current.Change(delegate(WorldChange change)
            {
                PlannedMachines.Remove(change, id);
                change.Put(Machine.DocumentOf(id), machine);
                CallLog.Effect(change, cmdlet.CommandName, id.ToString());
            });
            return VirtualMachine.Of(id);
        }

        private static List<Node> AllSettings(Node machine)
        {
            List<Node> all = new List<Node> { machine.Child("Settings") };
            foreach (Node checkpoint in machine.Nodes("Checkpoints")) all.Add(checkpoint.Child("Settings"));
            return all;
        }

        // Disks are looked for in the given folder, by their names.
        private static void Redirect(Node machine, string folder)
        {
            foreach (Node settings in AllSettings(machine))
            {
                foreach (Node drive in settings.Nodes("HardDrives"))
                {
                    string path = HostPath.Join(folder, HostPath.NameOf(drive.Text("Path")));
                    if (drive.Text("Path").Length > 0 && VhdFile.Exists(path)) drive["Path"] = path;
                }
            }
        }

        private static void MoveIn(Node machine, Node wanted)
        {
            Node host = World.Current.Document("host");
            string folder = wanted.Has("VirtualMachinePath") ? wanted.Text("VirtualMachinePath") : host.Text("VirtualMachinePath");
            machine.Child("Settings")["ConfigurationLocation"] = folder;
            machine.Child("Settings")["Path"] = folder;
            CopyDisks(machine, wanted.Has("VhdDestinationPath") ? wanted.Text("VhdDestinationPath") : host.Text("VirtualHardDiskPath"));
        }
    }
}

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class ExportVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Transfer.Export(this, machine, machine.Settings, machine.Name, FullPath(Text("Path")));
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class CompareVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (!Has("Path")) throw new NotImplementedException();
            Node machine = Transfer.Plan(this);
            PlannedMachines.Add(machine);
            Output.Emit(new VMCompatibilityReport
            {
                VM = VirtualMachine.Planned(machine.Id("Id")),
                OperationType = OperationType.ImportVirtualMachine,
                Destination = World.Current.Document("host").Text("Name"),
                Path = FullPath(Text("Path")),
                Incompatibilities = Transfer.Obstacles(machine).ToArray()
            });
        }
    }

    public partial class ImportVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            Node machine = Has("CompatibilityReport") ? Compared() : Transfer.Plan(this);
            if (!Output.ShouldProcess(machine.Text("Name"), CommandName)) return;
            if (Transfer.Obstacles(machine).Count > 0) throw Refusal.Operation(Texts.Host("import_conflict"));
            Output.Emit(Transfer.Realize(this, machine));
        }

        private Node Compared()
        {
            Node planned = Value<VMCompatibilityReport>("CompatibilityReport", null).VM.MachineOrNull;
            if (planned == null) throw Refusal.NotFound(Texts.Host("object_gone", World.Current.Document("host").Text("Name")));
            return planned.Clone();
        }
    }

    public partial class MoveVMStorage : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (!Has("DestinationStoragePath")) throw new NotImplementedException();
            ForEachTarget(delegate(VirtualMachine machine)
            {
                string folder = FullPath(Text("DestinationStoragePath"));
                ChangeMachine(machine, delegate(Node node)
                {
                    List<string> old = new List<string>();
                    foreach (HardDiskDrive drive in machine.Parts<HardDiskDrive>("HardDrives")) old.Add(drive.Path);
                    Transfer.CopyDisks(node, HostPath.Join(folder, "Virtual Hard Disks"));
                    foreach (string path in old) File.Delete(HostPath.Local(World.Current, path));
                    node.Child("Settings")["ConfigurationLocation"] = folder;
                });
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }
}
