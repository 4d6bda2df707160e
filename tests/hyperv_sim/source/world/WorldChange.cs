using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;

namespace HvlabSimulation
{
    /// <summary>Documents that one change has touched.</summary>
    internal sealed class WorldChange
    {
        private readonly World world;

        public WorldChange(World world)
        {
            this.world = world;
            Edited = new Dictionary<string, Node>();
        }

        /// <summary>Document name to its new content; null for a removed one.</summary>
        public Dictionary<string, Node> Edited { get; private set; }

        /// <summary>A copy of a document, saved when the change ends.</summary>
        public Node Edit(string name)
        {
            Node node;
            if (Edited.TryGetValue(name, out node) && node != null) return node;
            node = world.Document(name).Clone();
            Edited[name] = node;
            return node;
        }

        public void Put(string name, Node node)
        {
            Edited[name] = node;
        }

        public void Remove(string name)
        {
            Edited[name] = null;
        }
    }

    /// <summary>A lock among threads and processes: an exclusively opened file, freed by the system when its holder dies.</summary>
    internal sealed class WorldLock : IDisposable
    {
        private static readonly object ThreadGate = new object();
        private readonly FileStream stream;

        private WorldLock(FileStream stream)
        {
            this.stream = stream;
        }

        public static WorldLock Take(string path)
        {
            Monitor.Enter(ThreadGate);
            try
            {
                DateTime limit = DateTime.UtcNow.AddSeconds(30);
                while (true)
                {
                    try
                    {
                        return new WorldLock(new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None));
                    }
                    catch (IOException)
                    {
                        if (DateTime.UtcNow > limit) throw;
                        Thread.Sleep(3);
                    }
                }
            }
            catch
            {
                Monitor.Exit(ThreadGate);
                throw;
            }
        }

        public void Dispose()
        {
            stream.Dispose();
            Monitor.Exit(ThreadGate);
        }
    }
}
