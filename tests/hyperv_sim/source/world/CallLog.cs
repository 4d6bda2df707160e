using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Text;

namespace HvlabSimulation
{
    /// <summary>
    /// What tests count. `calls/PID.jsonl` has one line per cmdlet call of a process; the document `effects` counts what each
    /// cmdlet changed, per target, over all processes.
    /// </summary>
    internal static class CallLog
    {
        private static readonly object Gate = new object();
        private static StreamWriter writer;
        private static string writerFolder;

        public static void Write(string command, Dictionary<string, object> arguments)
        {
            World world = World.Current;
            List<object> names = new List<object>();
            foreach (string name in arguments.Keys) names.Add(name);
            Node line = new Node().With("Time", Clock.Now).With("Cmdlet", command).With("Parameters", names);
            lock (Gate)
            {
                if (writerFolder != world.Folder) Open(world);
                writer.Write(Json.Write(line) + "\n");
            }
        }

        /// <summary>Counts one side effect inside the change that makes it.</summary>
        public static void Effect(WorldChange change, string command, string target)
        {
            Node effects = change.Edit("effects");
            Node counts = effects.Child(command);
            counts[target] = counts.Number(target) + 1;
        }

        private static void Open(World world)
        {
            Directory.CreateDirectory(world.PathOf("calls"));
            string path = world.PathOf("calls", Process.GetCurrentProcess().Id + ".jsonl");
            FileStream stream = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete);
            writer = new StreamWriter(stream, new UTF8Encoding(false)) { AutoFlush = true };
            writerFolder = world.Folder;
        }
    }
}
