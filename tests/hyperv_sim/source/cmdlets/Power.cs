using System;
using System.Collections.Generic;
using System.Management.Automation;
using HvlabSimulation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Changes of a machine's state.</summary>
    internal static class Power
    {
        /// <summary>Moves a machine through a transitional state; the host finishes it even when the caller goes away.</summary>
        public static void Move(SimulatedCmdlet cmdlet, VirtualMachine machine, string meanwhile, string state, Action<Node> change)
        {
            double seconds = Faults.Duration(cmdlet.CommandName, machine.MachineNode);
            cmdlet.ChangeMachine(machine, delegate(Node node)
            {
                Machine.Enter(node, state, meanwhile, seconds);
                node["Booting"] = false;
                change(node);
            });
            Faults.Apply(cmdlet, machine.MachineNode, "during");
            cmdlet.Wait(seconds, meanwhile);
        }

        public static void Boot(SimulatedCmdlet cmdlet, VirtualMachine machine)
        {
            Move(cmdlet, machine, "Starting", "Running", delegate(Node node)
            {
                node["BootedAt"] = Clock.Now;
                node["Booting"] = true;
                node.Child("Guest")["Crashed"] = false;
                foreach (Node adapter in node.Child("Settings").Nodes("NetworkAdapters")) GiveAddress(adapter);
            });
        }

        private static void GiveAddress(Node adapter)
        {
            if (adapter.Text("MacAddress") != "000000000000") return;
            byte[] bytes = Guid.NewGuid().ToByteArray();
            adapter["MacAddress"] = "00155D" + bytes[0].ToString("X2") + bytes[1].ToString("X2") + bytes[2].ToString("X2");
        }

        /// <summary>Refuses a start that cannot be: missing files, broken chains, disks open elsewhere, a merge that runs.</summary>
        public static void CheckStart(Node machine)
        {
            string name = machine.Text("Name");
            string id = machine.Text("Id").ToUpperInvariant();
            if (Machine.Activity(machine) != null && !Faults.Settings.Flag("start_while_merging")) throw Refusal.State(Texts.Host("wrong_state"));
            foreach (Node drive in machine.Child("Settings").Nodes("HardDrives"))
            {
                string path = drive.Text("Path");
                if (path.Length == 0) continue;
                string code;
                string fault = VhdFile.ChainFault(path, out code);
                Node owner = fault == null ? DiskUse.RunningOwner(path) : null;
                if (owner != null && owner.Text("Id") != machine.Text("Id"))
                {
                    fault = Texts.Host("file_busy");
                    code = "0x80070020";
                }
                if (fault == null) continue;
                string controller = drive.Text("ControllerType") == "IDE" ? "Microsoft Emulated IDE Controller" : "Synthetic SCSI Controller";
                string instance = Guid.NewGuid().ToString().ToUpperInvariant();
                throw Refusal.Unspecified(Texts.Host("start_failed", name) + "\n" + Texts.Host("attachment", controller, instance, fault, path) + "\n" +
                    Texts.Host("start_failed_id", name, id) + "\n" + Texts.Host("attachment_id", name, controller, instance, fault, code, id, path));
            }
            long wanted = machine.Child("Settings").Child("Memory").Number("Startup");
            if (wanted <= World.Current.Document("host").Number("MemoryCapacity")) return;
            throw new Refusal("OutOfMemory", ErrorCategory.FromStdErr, Texts.Host("start_failed", name) + "\n" + Texts.Host("no_memory", name) + "\n" +
                Texts.Host("start_failed_id", name, id) + "\n" + Texts.Host("no_memory_id", name, wanted / 1048576, id));
        }

        public static void Require(Node machine, params string[] states)
        {
            if (Array.IndexOf(states, Machine.State(machine)) < 0) throw Refusal.State(Texts.Host("wrong_state"));
        }

        public static bool CanShutDown(Node machine)
        {
            Node service = machine.Child("Settings").Find("Services", "Key", "Shutdown");
            return Machine.GuestAnswers(machine) && service != null && service.Flag("Enabled");
        }
    }
}

namespace Microsoft.HyperV.PowerShell.Commands
{
    public partial class StartVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Node node = machine.MachineNode;
                string state = Machine.State(node);
                if (state == "Running") Output.Warn(Texts.Host("already_so"));
                else
                {
                    Power.Require(node, "Off", "Saved", "Paused");
                    if (state == "Paused") Power.Move(this, machine, "Resuming", "Running", delegate { });
                    else if (state == "Saved")
                    {
                        Power.CheckStart(node);
                        Power.Move(this, machine, "Starting", "Running", delegate(Node changed) { changed["BootedAt"] = Clock.Now - TimeSpan.TicksPerHour; });
                    }
                    else
                    {
                        Power.CheckStart(node);
                        if (node.Child("Settings").Flag("AutomaticCheckpointsEnabled")) Checkpoints.TakeAutomatic(this, machine);
                        Power.Boot(this, machine);
                    }
                }
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class StopVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Node node = machine.MachineNode;
                string state = Machine.State(node);
                if (state == "Off" || (state == "Saved" && Flag("Save"))) Output.Warn(Texts.Host("already_so"));
                else if (Flag("Save"))
                {
                    Power.Require(node, "Running", "Paused");
                    Power.Move(this, machine, "Saving", "Saved", GuestProcesses.End);
                }
                else if (Flag("TurnOff")) PowerOff(machine);
                else ShutDown(machine, node);
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }

        private void ShutDown(VirtualMachine machine, Node node)
        {
            Power.Require(node, "Running", "Paused");
            if (!Power.CanShutDown(node))
            {
                if (!Flag("Force") && !Output.ShouldContinue("Hyper-V cannot shut down virtual machine " + machine.Name + " because the Shutdown integration service is unavailable. To avoid potential data loss, you can pause or save the state of the virtual machine. The other option is to turn off the virtual machine, but data loss might occur.", "Confirm")) return;
                PowerOff(machine);
                return;
            }
            Wait(Machine.ShutdownSeconds(node), "Stopping");
            PowerOff(machine);
        }

        private void PowerOff(VirtualMachine machine)
        {
            Power.Move(this, machine, "Stopping", "Off", delegate(Node node)
            {
                GuestProcesses.End(node);
                double merge = Checkpoints.DropAutomatic(node);
                merge = Math.Max(merge, Faults.Settings.Real("merge_after_stop_seconds", 0));
                Machine.Begin(node, "MergingDisks", "merging", merge);
            });
        }
    }

    public partial class SaveVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                if (Machine.State(machine.MachineNode) == "Saved") Output.Warn(Texts.Host("already_so"));
                else
                {
                    Power.Require(machine.MachineNode, "Running", "Paused");
                    Power.Move(this, machine, "Saving", "Saved", GuestProcesses.End);
                }
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class RemoveVMSavedState : SimulatedCmdlet
    {
        internal override void Work()
        {
            if (Has("VMSnapshot")) throw new NotImplementedException();
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Power.Require(machine.MachineNode, "Saved");
                Power.Move(this, machine, "Saved", "Off", delegate { });
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class SuspendVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                if (Machine.State(machine.MachineNode) == "Paused") Output.Warn(Texts.Host("already_so"));
                else
                {
                    Power.Require(machine.MachineNode, "Running");
                    Power.Move(this, machine, "Pausing", "Paused", delegate { });
                }
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class ResumeVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                if (Machine.State(machine.MachineNode) == "Running") Output.Warn(Texts.Host("already_so"));
                else
                {
                    Power.Require(machine.MachineNode, "Paused");
                    Power.Move(this, machine, "Resuming", "Running", delegate { });
                }
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class RestartVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            ForEachTarget(delegate(VirtualMachine machine)
            {
                Power.Require(machine.MachineNode, "Running", "Paused");
                if (!Flag("Force") && !Output.ShouldContinue("Restart " + machine.Name + "?", "Confirm")) return;
                GuestProcesses.End(machine.MachineNode);
                Power.Boot(this, machine);
                if (Flag("Wait")) Waiting.ForGuest(this, machine, Text("For"), Value<int>("Timeout", -1));
                if (Flag("Passthru")) Output.Emit(machine);
            });
        }
    }

    public partial class WaitVM : SimulatedCmdlet
    {
        internal override void Work()
        {
            foreach (VirtualMachine machine in Targets())
            {
                VirtualMachine target = machine;
                Guarded(target, delegate
                {
                    Waiting.ForGuest(this, target, Text("For"), Value<int>("Timeout", -1));
                    if (Flag("Passthru")) Output.Emit(target);
                });
            }
        }
    }
}

namespace HvlabSimulation
{
    /// <summary>Waits for what a guest reports.</summary>
    internal static class Waiting
    {
        public static void ForGuest(SimulatedCmdlet cmdlet, VirtualMachine machine, string what, int seconds)
        {
            long limit = seconds < 0 ? long.MaxValue : Clock.After(seconds);
            while (!Reached(machine.MachineNode, what))
            {
                if (Clock.Now > limit) throw new Refusal("OperationTimeout", ErrorCategory.OperationTimeout, Texts.Host("failed"));
                cmdlet.Wait(0.05, "Waiting");
            }
        }

        private static bool Reached(Node machine, string what)
        {
            if (what != "IPAddress") return Machine.GuestAnswers(machine);
            foreach (Node adapter in machine.Child("Settings").Clone().Nodes("NetworkAdapters"))
            {
                if (Machine.Addresses(machine, adapter).Count > 0) return true;
            }
            return false;
        }
    }
}
