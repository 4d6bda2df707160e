using System;
using System.Collections.Generic;

namespace HvlabSimulation
{
    /// <summary>Machines that were compared: the service keeps them, and no list shows them, until they are imported or destroyed.</summary>
    internal static class PlannedMachines
    {
        private const string Document = "planned";
        private const string List = "Machines";

        public static IEnumerable<Node> All() { return World.Current.Document(Document).Nodes(List); }

        public static Node Find(Guid id) { return World.Current.Document(Document).Find(List, "Id", id.ToString()); }

        public static void Add(Node machine)
        {
            World.Current.Change(delegate(WorldChange change) { change.Edit(Document).Items(List).Add(machine); });
        }

        public static void Remove(WorldChange change, Guid id)
        {
            if (Find(id) == null) return;
            change.Edit(Document).Items(List).RemoveAll(delegate(object one) { return ((Node)one).Id("Id") == id; });
        }
    }
}
