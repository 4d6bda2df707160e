using System;
using System.Collections.Generic;
using System.Management.Automation;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Cmdlets on checkpoints: found by object, or by name within machines.</summary>
    public abstract class SnapshotCmdlet : SimulatedCmdlet
    {
        internal List<VMSnapshot> Found()
        {
            if (Has("VMSnapshot")) return List<VMSnapshot>("VMSnapshot");
            List<VMSnapshot> found = new List<VMSnapshot>();
            foreach (VirtualMachine machine in Targets()) found.AddRange(Of(machine));
            return found;
        }

        internal List<VMSnapshot> Of(VirtualMachine machine)
        {
            List<string> names = List<string>("Name");
            List<VMSnapshot> found = new List<VMSnapshot>();
            foreach (Node node in machine.MachineNode.Nodes("Checkpoints"))
            {
                bool wanted = names.Count == 0;
                foreach (string name in names) wanted = wanted || new WildcardPattern(name, WildcardOptions.IgnoreCase).IsMatch(node.Text("Name"));
                if (wanted) found.Add(VMSnapshot.Of(machine.MachineId, node.Id("Id")));
            }
            if (found.Count == 0 && names.Count > 0 && !WildcardPattern.ContainsWildcardCharacters(names[0])) Output.Fail(Refusal.NotFound(Texts.Host("checkpoint_not_found", names[0])).ToRecord());
            return found;
        }

        internal void ForEachFound(Action<VMSnapshot> work)
        {
            foreach (VMSnapshot checkpoint in Found())
            {
                VMSnapshot target = checkpoint;
                if (Output.ShouldProcess(target.Name, CommandName)) Guarded(target, delegate { work(target); });
            }
        }
    }
}

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class CheckpointVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Node node = machine.MachineNode;
                string id = machine.MachineId.ToString().ToUpperInvariant();
                string type = node.Child("Settings").Text("CheckpointType");
                if (type == "Disabled") throw Refusal.Operation(Texts.Host("checkpoint_disabled", machine.Name, id));
                Power.Require(node, "Running", "Off", "Saved", "Paused");
                if (Machine.Activity(node) != null) throw Refusal.Operation(Texts.Host("checkpoint_failed", machine.Name, id));
                if (type == "ProductionOnly" && Machine.Runs(node) && !Machine.GuestAnswers(node)) throw Refusal.Operation(Texts.Host("checkpoint_failed", machine.Name, id));
                double seconds = Faults.Duration(CommandName, node);
                ChangeMachine(machine, delegate(Node changed) { Machine.Begin(changed, "CreatingSnapshot", "creating_checkpoint", seconds); });
                Wait(seconds, "Creating checkpoint");
                string name = Has("SnapshotName") ? Text("SnapshotName") : machine.Name + " - (" + DateTime.Now.ToString("M/d/yyyy - h:mm:ss tt") + ")";
                Guid taken = Guid.Empty;
                ChangeMachine(machine, delegate(Node changed) { taken = Checkpoints.Take(changed, name, false).Id("Id"); });
                if (Flag("Passthru")) Output.Emit(VMSnapshot.Of(machine.MachineId, taken));
            });
        }
    }

    public partial class GetVMSnapshot : SnapshotCmdlet
    {
        internal override void Work()
        {
            if (Has("Id"))
            {
                Output.Emit(ById(Value<Guid>("Id", Guid.Empty)));
                return;
            }
            if (Has("ParentOf") || Has("ChildOf"))
            {
                ShowRelatives();
                return;
            }
            foreach (VMSnapshot checkpoint in Found())
            {
                if (!Has("SnapshotType") || checkpoint.SnapshotType.ToString() == Text("SnapshotType")) Output.Emit(checkpoint);
            }
        }

        private static VMSnapshot ById(Guid id)
        {
            foreach (Node machine in Machine.All())
            {
                if (machine.Find("Checkpoints", "Id", id.ToString()) != null) return VMSnapshot.Of(machine.Id("Id"), id);
            }
            throw Refusal.NotFound(Texts.Host("checkpoint_not_found", id));
        }

        private void ShowRelatives()
        {
            VirtualMachineBase of = (VirtualMachineBase)Value(Has("ParentOf") ? "ParentOf" : "ChildOf");
            VMSnapshot checkpoint = of as VMSnapshot;
            Node machine = of.MachineNode;
            string id = checkpoint == null ? "" : checkpoint.Id.ToString();
            string parent = checkpoint == null ? machine.Text("CurrentCheckpoint") : checkpoint.Source.Text("Parent");
            foreach (Node other in machine.Nodes("Checkpoints"))
            {
                bool related = Has("ParentOf") ? other.Text("Id") == parent : other.Text("Parent") == id;
                if (related) Output.Emit(VMSnapshot.Of(of.MachineId, other.Id("Id")));
            }
        }
    }

    public partial class RestoreVMSnapshot : SnapshotCmdlet
    {
        internal override void Work()
        {
            ForEachFound(delegate(VMSnapshot checkpoint)
            {
                Power.Require(checkpoint.MachineNode, "Running", "Off", "Saved", "Paused");
                double seconds = Faults.Duration(CommandName, checkpoint.MachineNode);
                ChangeMachine(checkpoint, delegate(Node machine)
                {
                    GuestProcesses.End(machine);
                    Checkpoints.Apply(machine, machine.Find("Checkpoints", "Id", checkpoint.CheckpointId.ToString()));
                    Machine.Begin(machine, "ApplyingSnapshot", "ok", seconds);
                });
                Wait(seconds, "Applying checkpoint");
                if (Flag("Passthru")) Output.Emit(checkpoint);
            });
        }
    }

    public partial class RemoveVMSnapshot : SnapshotCmdlet
    {
        internal override void Work()
        {
            ForEachFound(delegate(VMSnapshot checkpoint)
            {
                ChangeMachine(checkpoint, delegate(Node machine)
                {
                    Node root = machine.Find("Checkpoints", "Id", checkpoint.CheckpointId.ToString());
                    if (root == null) throw checkpoint.Gone();
                    foreach (Node node in Flag("IncludeAllChildSnapshots") ? Checkpoints.Subtree(machine, root) : new List<Node> { root })
                    {
                        Checkpoints.Merge(machine, node);
                        Checkpoints.Unlink(machine, node);
                    }
                    Machine.Begin(machine, "MergingDisks", "merging", Faults.Settings.Real("merge_seconds", 0));
                });
            });
        }
    }

    public partial class RenameVMSnapshot : SnapshotCmdlet
    {
        internal override void Work()
        {
            ForEachFound(delegate(VMSnapshot checkpoint)
            {
                ChangeMachine(checkpoint, delegate(Node machine) { machine.Find("Checkpoints", "Id", checkpoint.CheckpointId.ToString())["Name"] = Text("NewName"); });
                if (Flag("Passthru")) Output.Emit(checkpoint);
            });
        }
    }

    public partial class ExportVMSnapshot : SnapshotCmdlet
    {
        internal override void Work()
        {
            ForEachFound(delegate(VMSnapshot checkpoint)
            {
                Transfer.Export(this, checkpoint, checkpoint.Settings, checkpoint.Name, FullPath(Text("Path")));
                if (Flag("Passthru")) Output.Emit(checkpoint);
            });
        }
    }
}
