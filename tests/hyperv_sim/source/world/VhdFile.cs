using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Microsoft.Vhd.PowerShell;

namespace HvlabSimulation
{
    /// <summary>
    /// A simulated virtual disk: a real, small file with the signature of its format, then a JSON description and zeros. It may be
    /// copied, moved, damaged and deleted as any file.
    /// </summary>
    internal sealed class VhdFile
    {
        private const int HeaderBytes = 65536;
        private const int PhysicalBytes = 4194304;
        private static readonly Dictionary<string, string> Signatures = new Dictionary<string, string>
        {
            { "VHDX", "vhdxfile" }, { "VHDSet", "vhdxfile" }, { "VHD", "conectix" }
        };

        private VhdFile(string path, Node node)
        {
            Path = path;
            Node = node;
        }

        public string Path { get; private set; }
        public Node Node { get; private set; }
        public string LocalPath { get { return HostPath.Local(World.Current, Path); } }

        public static string FormatOf(string path)
        {
            string extension = System.IO.Path.GetExtension(path).ToLowerInvariant();
            return extension == ".vhd" ? "VHD" : extension == ".vhds" ? "VHDSet" : extension == ".vhdx" || extension == ".avhdx" ? "VHDX" : extension == ".avhd" ? "VHD" : "Unknown";
        }

        public static bool Exists(string path) { return File.Exists(HostPath.Local(World.Current, path)); }

        /// <summary>Makes a disk that is new on disk; a differencing one takes size and format from its parent.</summary>
        public static VhdFile Create(string path, string type, ulong size, string parentPath, Node more)
        {
            World world = World.Current;
            string local = HostPath.Local(world, path);
            if (File.Exists(local)) throw Refusal.Failed(Texts.Host("vhd_exists", path));
            if (!Directory.Exists(System.IO.Path.GetDirectoryName(local))) throw Refusal.Failed(Texts.Host("vhd_no_folder", path));
            string format = FormatOf(path);
            Node node = new Node().With("VhdFormat", format).With("VhdType", type).With("Size", size)
                .With("LogicalSectorSize", 512L).With("PhysicalSectorSize", format == "VHD" ? 512L : 4096L)
                .With("BlockSize", type == "Fixed" ? 0L : format == "VHD" ? 2097152L : 33554432L)
                .With("FileSize", type == "Fixed" ? size + 512 : 4194304UL).With("ParentPath", "")
                .With("DiskIdentifier", Guid.NewGuid().ToString().ToUpperInvariant()).With("DataId", Guid.NewGuid().ToString());
            foreach (KeyValuePair<string, object> member in more) node[member.Key] = member.Value;
            if (type == "Differencing")
            {
                VhdFile parent = Open(parentPath);
                node["Size"] = parent.Node.Get("Size");
                node["ParentPath"] = parent.Path;
                node["ParentDataId"] = parent.Node.Text("DataId");
                node["DiskIdentifier"] = parent.Node.Text("DiskIdentifier");
            }
            VhdFile file = new VhdFile(path, node);
            file.Save();
            return file;
        }

        /// <summary>Reads a disk's description. Missing and damaged files are refused as the real cmdlets refuse them.</summary>
        public static VhdFile Open(string path)
        {
            string local = HostPath.Local(World.Current, path);
            if (!File.Exists(local)) throw Refusal.NotFound(Texts.Host("vhd_missing", path));
            byte[] header = new byte[HeaderBytes];
            int count;
            using (FileStream stream = new FileStream(local, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete)) count = stream.Read(header, 0, header.Length);
            string text = Encoding.UTF8.GetString(header, 0, count);
            int end = text.IndexOf('\0');
            if (text.Length < 9 || !Signatures.ContainsValue(text.Substring(0, 8)) || end < 8) throw Refusal.Failed(Texts.Host("vhd_unreadable", path));
            try
            {
                return new VhdFile(path, (Node)Json.Parse(text.Substring(8, end - 8)));
            }
            catch (FormatException)
            {
                throw Refusal.Failed(Texts.Host("vhd_unreadable", path));
            }
        }

        public void Save()
        {
            string signature = Signatures.ContainsKey(Node.Text("VhdFormat")) ? Signatures[Node.Text("VhdFormat")] : "vhdxfile";
            byte[] header = Encoding.UTF8.GetBytes(signature + Json.Write(Node));
            using (FileStream stream = new FileStream(LocalPath, FileMode.Create, FileAccess.Write, FileShare.Read))
            {
                stream.Write(header, 0, header.Length);
                stream.SetLength(Node.Text("VhdType") == "Fixed" && Node.Number("Size") < PhysicalBytes ? Node.Number("Size") + 512 + header.Length : PhysicalBytes);
            }
        }

        /// <summary>The parent where it is now: at its stored path, else beside the child.</summary>
        public string LocateParent()
        {
            string stored = Node.Text("ParentPath");
            if (stored.Length == 0 || Exists(stored)) return stored;
            string beside = HostPath.Join(HostPath.FolderOf(Path), HostPath.NameOf(stored));
            return Exists(beside) ? beside : stored;
        }

        /// <summary>Refuses a chain with a missing or exchanged parent; gives the text that the platform has for it.</summary>
        public static string ChainFault(string path, out string code)
        {
            code = "";
            for (int depth = 0; depth < 64; depth++)
            {
                if (!Exists(path)) { code = depth == 0 ? "0x80070002" : "0xC03A000D"; return Texts.Host(depth == 0 ? "file_missing" : "chain_broken"); }
                VhdFile file = Open(path);
                if (file.Node.Text("VhdType") != "Differencing") return null;
                string parent = file.LocateParent();
                if (Exists(parent) && Open(parent).Node.Text("DataId") != file.Node.Text("ParentDataId"))
                {
                    code = "0xC03A000E";
                    return Texts.Host("chain_mismatch");
                }
                path = parent;
            }
            code = "0xC03A0018";
            return Texts.Host("chain_broken");
        }

        public VirtualHardDisk ToObject()
        {
            Node node = Node;
            return new VirtualHardDisk
            {
                ComputerName = World.Current.Document("host").Text("Name"),
                Path = Path,
                VhdFormat = Values.To<VhdFormat>(node.Get("VhdFormat")),
                VhdType = Values.To<VhdType>(node.Get("VhdType")),
                FileSize = Values.To<ulong>(node.Get("FileSize")),
                Size = Values.To<ulong>(node.Get("Size")),
                MinimumSize = Values.To<ulong?>(node.Get("MinimumSize")),
                LogicalSectorSize = (uint)node.Number("LogicalSectorSize"),
                PhysicalSectorSize = (uint)node.Number("PhysicalSectorSize"),
                BlockSize = (uint)node.Number("BlockSize"),
                ParentPath = LocateParent(),
                DiskIdentifier = node.Text("DiskIdentifier"),
                FragmentationPercentage = (uint)node.Number("FragmentationPercentage"),
                Alignment = 1,
                Attached = node.Flag("Mounted") || DiskUse.RunningOwner(Path) != null,
                DiskNumber = node.Flag("Mounted") ? (uint?)9 : null,
                IsPMEMCompatible = false
            };
        }
    }

    /// <summary>Which machines use a disk.</summary>
    internal static class DiskUse
    {
        /// <summary>The running, paused or saving machine that has the disk open, or null.</summary>
        public static Node RunningOwner(string path)
        {
            foreach (Node machine in Machine.All())
            {
                string state = Machine.State(machine);
                if (state == "Off" || state == "Saved") continue;
                foreach (Node drive in machine.Child("Settings").Nodes("HardDrives"))
                {
                    if (Same(drive.Text("Path"), path) || IsParent(path, drive.Text("Path"))) return machine;
                }
            }
            return null;
        }

        public static bool Same(string left, string right)
        {
            World world = World.Current;
            return string.Equals(HostPath.Local(world, left), HostPath.Local(world, right), StringComparison.Ordinal);
        }

        private static bool IsParent(string path, string child)
        {
            for (int depth = 0; depth < 64 && VhdFile.Exists(child); depth++)
            {
                VhdFile file;
                try { file = VhdFile.Open(child); }
                catch (Refusal) { return false; }
                if (file.Node.Text("VhdType") != "Differencing") return false;
                child = file.LocateParent();
                if (Same(child, path)) return true;
            }
            return false;
        }
    }
}
