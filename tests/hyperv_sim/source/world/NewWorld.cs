using System;
using System.Collections.Generic;
using System.IO;

namespace HvlabSimulation
{
    /// <summary>What a new host has: its settings and the built-in switch.</summary>
    internal static class NewWorld
    {
        /// <summary>The fixed id of the built-in switch, whatever it is called.</summary>
        public const string DefaultSwitchId = "c08cb7b8-9b3c-408e-8e30-5e16a3aeb444";

        /// <summary>Fills in what the documents of a new world lack.</summary>
        public static void Fill(World world, WorldChange change)
        {
            Node host = change.Edit("host");
            Default(host, "Name", "SIMHOST");
            Default(host, "Generation", Environment.GetEnvironmentVariable("HVLAB_HYPERV_SIM_GENERATION") ?? "2025");
            Default(host, "Language", "en");
            Default(host, "LogicalProcessorCount", 8L);
            Default(host, "MemoryCapacity", 34359738368L);
            Default(host, "VirtualHardDiskPath", world.PathOf("disks"));
            Default(host, "VirtualMachinePath", world.PathOf("configuration"));
            Default(host, "GuestOs", "windows");
            Default(host, "GuestBootSeconds", 0.4);
            Default(host, "MacAddressMinimum", "00155D010A00");
            Default(host, "MacAddressMaximum", "00155D010AFF");
            Directory.CreateDirectory(HostPath.Local(world, host.Text("VirtualHardDiskPath")));
            Directory.CreateDirectory(HostPath.Local(world, host.Text("VirtualMachinePath")));

            Node switches = change.Edit("switches");
            if (switches.Find("Switches", "Id", DefaultSwitchId) != null) return;
            switches.Items("Switches").Insert(0, new Node()
                .With("Id", DefaultSwitchId)
                .With("Name", Texts.Get(host.Text("Language"), "default_switch"))
                .With("SwitchType", "Internal")
                .With("Notes", "")
                .With("Subnet", "172.27.64"));
        }

        private static void Default(Node node, string key, object value)
        {
            if (!node.Has(key)) node[key] = value;
        }
    }

    /// <summary>Paths of the simulated host. Windows paths work everywhere: drive Z is the root, others lie in `drives`.</summary>
    internal static class HostPath
    {
        public static string Local(World world, string path)
        {
            if (Path.DirectorySeparatorChar == '\\' || path.Length < 3 || path[1] != ':') return path;
            string rest = path.Substring(2).Replace('\\', '/').TrimStart('/');
            char drive = char.ToUpperInvariant(path[0]);
            return drive == 'Z' ? "/" + rest : world.PathOf("drives", drive.ToString(), rest);
        }

        /// <summary>Joins with the separator that the first part uses.</summary>
        public static string Join(string folder, string name)
        {
            char separator = folder.IndexOf('\\') >= 0 || (folder.Length > 1 && folder[1] == ':') ? '\\' : Path.DirectorySeparatorChar;
            return folder.TrimEnd(separator) + separator + name;
        }

        public static string FolderOf(string path)
        {
            int at = path.LastIndexOfAny(new[] { '/', '\\' });
            return at < 0 ? "" : path.Substring(0, at);
        }

        public static string NameOf(string path)
        {
            return path.Substring(path.LastIndexOfAny(new[] { '/', '\\' }) + 1);
        }
    }
}
