using System;
using HvlabSimulation;
using Microsoft.Management.Infrastructure;

namespace Microsoft.HyperV.PowerShell
{
    /// <summary>
    /// The root of the live output classes: each read of a member looks at the world, so an object that a caller holds follows
    /// what happens. CimSession is null here, because no session object can be made outside Windows.
    /// </summary>
    public abstract class VirtualizationObject
    {
        /// <summary>Finds the node behind this object; null when it is gone.</summary>
        internal Func<Node> Find { get; set; }

        public virtual CimSession CimSession { get { return null; } }
        public virtual string ComputerName { get { return World.Current.Document("host").Text("Name"); } }
        public virtual bool IsDeleted { get { return Find() == null; } }

        internal Node Source
        {
            get
            {
                Node node = Find();
                if (node == null) throw new VirtualizationException(Gone().Message);
                return node;
            }
        }

        internal Refusal Gone() { return Refusal.NotFound(Texts.Host("object_gone", ComputerName)); }

        /// <summary>The raw value of a member; classes override this where the document does not hold it as such.</summary>
        internal virtual object Member(string name) { return Source.Get(name); }

        internal T Read<T>(string name) { return Values.To<T>(Member(name)); }
    }

    public abstract class ComputeResource : VirtualizationObject { }

    public partial class VMComponentObject
    {
        /// <summary>The machine or checkpoint that this is a part of.</summary>
        internal VirtualMachineBase Owner { get; set; }

        internal override object Member(string name)
        {
            switch (name)
            {
                case "VMId": return Owner.MachineId;
                case "VMName": return Owner.MachineNode.Text("Name");
                case "VMSnapshotId": return Owner is VMSnapshot ? Owner.Id : Guid.Empty;
                case "VMSnapshotName": return Owner is VMSnapshot ? Owner.Name : "";
                default: return base.Member(name);
            }
        }

        public override string ToString()
        {
            return GetType().Name + " (Name = '" + Read<string>("Name") + "', VMName = '" + VMName + "') [VMId = '" + VMId + "']";
        }

        /// <summary>A part that lives at a place of its owner's settings.</summary>
        internal static T Part<T>(VirtualMachineBase owner, Func<Node, Node> place) where T : VMComponentObject, new()
        {
            return new T { Owner = owner, Find = delegate
            {
                Node settings = owner.SettingsOrNull;
                return settings == null ? null : place(settings);
            } };
        }

        /// <summary>A part that is an entry of one of its owner's lists.</summary>
        internal static T Item<T>(VirtualMachineBase owner, string list, Node item) where T : VMComponentObject, new()
        {
            string id = item.Text("Id");
            return Part<T>(owner, delegate(Node settings) { return settings.Find(list, "Id", id); });
        }
    }
}
