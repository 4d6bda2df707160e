using System;
using System.Collections.Generic;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>The checkpoint tree of a machine and the differencing disks under it.</summary>
    internal static class Checkpoints
    {
        /// <summary>Takes a checkpoint inside a change: the disks that the machine used become the checkpoint's, it goes on with new ones.</summary>
        public static Node Take(Node machine, string name, bool automatic)
        {
            Node settings = machine.Child("Settings");
            Guid id = Guid.NewGuid();
            bool memory = settings.Text("CheckpointType") == "Standard" && Machine.Runs(machine);
            Node checkpoint = new Node().With("Id", id.ToString()).With("Name", name).With("Created", Clock.Now)
                .With("Parent", machine.Get("CurrentCheckpoint")).With("State", memory ? "Saved" : "Off").With("WithMemory", memory)
                .With("IsAutomaticCheckpoint", automatic).With("SnapshotType", "Standard").With("Settings", settings.Clone())
                .With("BootedAt", machine.Get("BootedAt"));
            foreach (Node drive in settings.Nodes("HardDrives")) Branch(drive);
            machine.Items("Checkpoints").Add(checkpoint);
            machine["CurrentCheckpoint"] = id.ToString();
            return checkpoint;
        }

        // The disk's name grows by a new GUID and its extension by an a.
        private static void Branch(Node drive)
        {
            string path = drive.Text("Path");
            if (path.Length == 0 || !VhdFile.Exists(path)) return;
            int dot = path.LastIndexOf('.');
            string stem = path.Substring(0, dot);
            int mark = stem.LastIndexOf('_');
            Guid old;
            if (mark > 0 && Guid.TryParse(stem.Substring(mark + 1), out old)) stem = stem.Substring(0, mark);
            string extension = path.Substring(dot + 1).TrimStart('a');
            string child = stem + "_" + Guid.NewGuid().ToString().ToUpperInvariant() + ".a" + extension;
            VhdFile.Create(child, "Differencing", 0, path, new Node());
            drive["Path"] = child;
        }

        public static void TakeAutomatic(SimulatedCmdlet cmdlet, VirtualMachine machine)
        {
            cmdlet.ChangeMachine(machine, delegate(Node node) { Take(node, "Automatic Checkpoint - " + machine.Name, true); });
        }

        /// <summary>Removes the automatic checkpoint of a machine that stops; gives the seconds that its merge takes.</summary>
        public static double DropAutomatic(Node machine)
        {
            foreach (Node checkpoint in new List<Node>(machine.Nodes("Checkpoints")))
            {
                if (!checkpoint.Flag("IsAutomaticCheckpoint")) continue;
                Merge(machine, checkpoint);
                Unlink(machine, checkpoint);
                return Faults.Settings.Real("merge_seconds", 0);
            }
            return 0;
        }

        /// <summary>Puts the machine back to a checkpoint: its settings, new disks on top of the checkpoint's, its state.</summary>
        public static void Apply(Node machine, Node checkpoint)
        {
            List<string> dropped = DiskPaths(machine.Child("Settings"));
            Node settings = checkpoint.Child("Settings").Clone();
            foreach (Node drive in settings.Nodes("HardDrives")) Branch(drive);
            machine["Settings"] = settings;
            machine["CurrentCheckpoint"] = checkpoint.Get("Id");
            machine.Remove("Pending");
            machine["State"] = checkpoint.Flag("WithMemory") ? "Saved" : "Off";
            machine["StateSince"] = Clock.Now;
            DeleteUnused(machine, dropped);
        }

        /// <summary>Merges a checkpoint's disks into what stands on them, as far as the files go.</summary>
        public static void Merge(Node machine, Node checkpoint)
        {
            foreach (string parent in DiskPaths(checkpoint.Child("Settings")))
            {
                List<VhdFile> children = Children(machine, parent);
                if (children.Count == 0 && !InUse(machine, parent, checkpoint)) Delete(parent);
                if (children.Count != 1 || InUse(machine, parent, checkpoint)) continue;
                Join(machine, parent, children[0]);
            }
        }

        // One child: its content moves into the parent, and who used the child uses the parent.
        private static void Join(Node machine, string parent, VhdFile child)
        {
            foreach (Node settings in AllSettings(machine))
            {
                foreach (Node drive in settings.Nodes("HardDrives")) if (DiskUse.Same(drive.Text("Path"), child.Path)) drive["Path"] = parent;
            }
            VhdFile below = VhdFile.Open(parent);
            below.Node["DataId"] = child.Node.Text("DataId");
            below.Save();
            foreach (VhdFile grandchild in Children(machine, child.Path))
            {
                grandchild.Node["ParentPath"] = parent;
                grandchild.Save();
            }
            Delete(child.Path);
        }

        /// <summary>Takes a checkpoint out of the tree; its children hang on its parent.</summary>
        public static void Unlink(Node machine, Node checkpoint)
        {
            string id = checkpoint.Text("Id");
            foreach (Node other in machine.Nodes("Checkpoints")) if (other.Text("Parent") == id) other["Parent"] = checkpoint.Get("Parent");
            if (machine.Text("CurrentCheckpoint") == id) machine["CurrentCheckpoint"] = checkpoint.Get("Parent");
            machine.Items("Checkpoints").Remove(checkpoint);
        }

        /// <summary>A checkpoint and all below it, children first.</summary>
        public static List<Node> Subtree(Node machine, Node root)
        {
            List<Node> all = new List<Node>();
            foreach (Node other in machine.Nodes("Checkpoints")) if (other.Text("Parent") == root.Text("Id")) all.AddRange(Subtree(machine, other));
            all.Add(root);
            return all;
        }

        private static List<string> DiskPaths(Node settings)
        {
            List<string> paths = new List<string>();
            foreach (Node drive in settings.Nodes("HardDrives")) if (drive.Text("Path").Length > 0) paths.Add(drive.Text("Path"));
            return paths;
        }

        private static IEnumerable<Node> AllSettings(Node machine)
        {
            yield return machine.Child("Settings");
            foreach (Node checkpoint in machine.Nodes("Checkpoints")) yield return checkpoint.Child("Settings");
        }

        private static List<VhdFile> Children(Node machine, string parent)
        {
            List<VhdFile> children = new List<VhdFile>();
            List<string> seen = new List<string>();
            foreach (Node settings in AllSettings(machine))
            {
                foreach (string path in DiskPaths(settings))
                {
                    if (seen.Contains(path) || !VhdFile.Exists(path)) continue;
                    seen.Add(path);
                    VhdFile file = VhdFile.Open(path);
                    if (file.Node.Text("ParentPath").Length > 0 && DiskUse.Same(file.LocateParent(), parent)) children.Add(file);
                }
            }
            return children;
        }

        private static bool InUse(Node machine, string path, Node except)
        {
            foreach (Node settings in AllSettings(machine))
            {
                if (except != null && ReferenceEquals(settings, except.Child("Settings"))) continue;
                foreach (string used in DiskPaths(settings)) if (DiskUse.Same(used, path)) return true;
            }
            return false;
        }

        private static void DeleteUnused(Node machine, List<string> paths)
        {
            foreach (string path in paths)
            {
                bool checkpointDisk = System.IO.Path.GetExtension(path).StartsWith(".av", StringComparison.OrdinalIgnoreCase);
                if (checkpointDisk && !InUse(machine, path, null) && Children(machine, path).Count == 0) Delete(path);
            }
        }

        private static void Delete(string path)
        {
            if (System.IO.Path.GetExtension(path).StartsWith(".av", StringComparison.OrdinalIgnoreCase)) System.IO.File.Delete(HostPath.Local(World.Current, path));
        }
    }
}
