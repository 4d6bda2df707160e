using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;
using System.Threading;

namespace HvlabSimulation
{
    /// <summary>
    /// The simulated host: JSON documents in one folder, shared by every process that names it in HVLAB_HYPERV_SIM. `index.txt`
    /// holds a revision and the revision of each document; readers reload what has a newer one. Documents are replaced by a
    /// rename, under `world.lock`; a loaded document is never changed, a change works on a copy.
    /// </summary>
    internal sealed class World
    {
        public const string FolderVariable = "HVLAB_HYPERV_SIM";

        private const string IndexName = "index.txt";
        private static readonly long FreshTicks = Stopwatch.Frequency / 1000;

        private static readonly object Gate = new object();
        private static World current;

        private readonly object cacheGate = new object();
        private Dictionary<string, Entry> entries = new Dictionary<string, Entry>();
        private string revision = "";
        private long checkedAt;

        private sealed class Entry
        {
            public string Revision;
            public Node Node;
        }

        private World(string folder)
        {
            Folder = folder;
        }

        public string Folder { get; private set; }

        /// <summary>The world that the environment names. A folder without one gets a new, empty host.</summary>
        public static World Current
        {
            get
            {
                string folder = Environment.GetEnvironmentVariable(FolderVariable);
                if (string.IsNullOrEmpty(folder)) throw new InvalidOperationException(FolderVariable + " names no folder for the simulated host");
                lock (Gate)
                {
                    if (current == null || current.Folder != folder || !File.Exists(Path.Combine(folder, IndexName)))
                    {
                        current = new World(folder);
                        current.CreateWhenMissing();
                    }
                    return current;
                }
            }
        }

        public string PathOf(params string[] parts)
        {
            string path = Folder;
            foreach (string part in parts) path = Path.Combine(path, part);
            return path;
        }

        /// <summary>A document for reading; an empty one when there is none.</summary>
        public Node Document(string name)
        {
            Refresh(false);
            Entry entry;
            return entries.TryGetValue(name, out entry) ? Loaded(name, entry) : new Node();
        }

        public bool Exists(string name)
        {
            Refresh(false);
            return entries.ContainsKey(name);
        }

        /// <summary>Names of the documents that begin with this text, in no telling order.</summary>
        public List<string> Names(string prefix)
        {
            Refresh(false);
            List<string> names = new List<string>();
            foreach (string name in entries.Keys) if (name.StartsWith(prefix, StringComparison.Ordinal)) names.Add(name);
            return names;
        }

        /// <summary>Makes the next read look at the disk, whatever was read a moment ago.</summary>
        public void Refresh()
        {
            Refresh(true);
        }

        /// <summary>Runs a change alone, among all processes, and saves what it edited.</summary>
        public void Change(Action<WorldChange> work)
        {
            using (WorldLock.Take(PathOf("world.lock")))
            {
                Refresh(true);
                WorldChange change = new WorldChange(this);
                work(change);
                Save(change);
            }
        }

        private void CreateWhenMissing()
        {
            Directory.CreateDirectory(Folder);
            using (WorldLock.Take(PathOf("world.lock")))
            {
                if (File.Exists(PathOf(IndexName))) return;
                WorldChange change = new WorldChange(this);
                AdoptDocuments(change);
                NewWorld.Fill(this, change);
                Save(change);
            }
        }

        // Documents that a test has put into the folder before the first use.
        private void AdoptDocuments(WorldChange change)
        {
            foreach (string name in new[] { "host", "switches", "nat", "effects", "faults_used" })
            {
                if (File.Exists(FileOf(name))) change.Put(name, ReadFile(name));
            }
            if (!Directory.Exists(PathOf("machines"))) return;
            foreach (string file in Directory.GetFiles(PathOf("machines"), "*.json"))
            {
                string name = "machines/" + Path.GetFileNameWithoutExtension(file).ToLowerInvariant();
                change.Put(name, ReadFile(name));
            }
        }

        private void Save(WorldChange change)
        {
            if (change.Edited.Count == 0) return;
            long next;
            long.TryParse(revision, NumberStyles.Integer, CultureInfo.InvariantCulture, out next);
            string stamp = (next + 1).ToString("d12", CultureInfo.InvariantCulture);
            Dictionary<string, Entry> changed = new Dictionary<string, Entry>(entries);
            foreach (KeyValuePair<string, Node> document in change.Edited)
            {
                if (document.Value == null)
                {
                    changed.Remove(document.Key);
                    File.Delete(FileOf(document.Key));
                    continue;
                }
                WriteFile(FileOf(document.Key), Json.Write(document.Value));
                changed[document.Key] = new Entry { Revision = stamp, Node = document.Value };
            }
            StringBuilder index = new StringBuilder(stamp);
            foreach (KeyValuePair<string, Entry> entry in changed) index.Append('\n').Append(entry.Value.Revision).Append(' ').Append(entry.Key);
            WriteFile(PathOf(IndexName), index.ToString());
            lock (cacheGate)
            {
                entries = changed;
                revision = stamp;
            }
        }

        private void Refresh(bool always)
        {
            lock (cacheGate)
            {
                long now = Stopwatch.GetTimestamp();
                if (!always && now - checkedAt < FreshTicks) return;
                checkedAt = now;
                string path = PathOf(IndexName);
                if (!File.Exists(path)) return;
                string[] lines = ReadShared(path).Split('\n');
                if (lines[0] == revision) return;
                Dictionary<string, Entry> read = new Dictionary<string, Entry>();
                for (int at = 1; at < lines.Length; at++)
                {
                    int blank = lines[at].IndexOf(' ');
                    string name = lines[at].Substring(blank + 1);
                    string stamp = lines[at].Substring(0, blank);
                    Entry known;
                    bool same = entries.TryGetValue(name, out known) && known.Revision == stamp;
                    read[name] = same ? known : new Entry { Revision = stamp };
                }
                entries = read;
                revision = lines[0];
            }
        }

        private Node Loaded(string name, Entry entry)
        {
            if (entry.Node == null) entry.Node = ReadFile(name);
            return entry.Node;
        }

        private Node ReadFile(string name)
        {
            try
            {
                return (Node)Json.Parse(ReadShared(FileOf(name)));
            }
            catch (FileNotFoundException)
            {
                return new Node();
            }
        }

        private string FileOf(string name)
        {
            return PathOf(name.Replace('/', Path.DirectorySeparatorChar) + ".json");
        }

        /// <summary>Reads a file that another process may be replacing.</summary>
        internal static string ReadShared(string path)
        {
            using (FileStream stream = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete))
            using (StreamReader reader = new StreamReader(stream, Encoding.UTF8)) return reader.ReadToEnd();
        }

        private static void WriteFile(string path, string text)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(path));
            string draft = path + ".new";
            File.WriteAllText(draft, text, new UTF8Encoding(false));
            for (int attempt = 0; ; attempt++)
            {
                try
                {
                    if (File.Exists(path)) File.Replace(draft, path, null);
                    else File.Move(draft, path);
                    return;
                }
                catch (IOException)
                {
                    if (attempt == 50) throw;
                    Thread.Sleep(2);
                }
            }
        }
    }
}
