using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Management.Automation;
using System.Threading;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>
    /// The base of every simulated cmdlet. Parameters are declared by the generated half of each class; behaviour reads them by
    /// name, so that one source serves every Windows Server generation.
    /// </summary>
    public abstract class SimulatedCmdlet : PSCmdlet
    {
        private Dictionary<string, object> arguments;
        private volatile bool stopped;

        internal ICallOutput Output { get; private set; }

        internal string CommandName { get { return MyInvocation.MyCommand.Name; } }

        internal bool WasStopped { get { return stopped; } }

        /// <summary>Listing cmdlets show nothing, instead of failing, to a caller whom the service filters.</summary>
        internal virtual bool HidesWithoutPermission { get { return false; } }

        /// <summary>Cmdlets of other modules work whatever the virtual machine service does.</summary>
        internal virtual bool NeedsService { get { return true; } }

        /// <summary>What the cmdlet does with one pipeline record.</summary>
        internal virtual void Work()
        {
            throw new NotImplementedException();
        }

        protected override void ProcessRecord()
        {
            arguments = new Dictionary<string, object>(MyInvocation.BoundParameters, StringComparer.OrdinalIgnoreCase);
            Output = new PipelineOutput(this);
            if (Flag("AsJob") && !Flag("WhatIf"))
            {
                SimulatedJob job = new SimulatedJob(this, MyInvocation.Line, CommandName);
                Output = job;
                JobRepository.Add(job);
                WriteObject(job);
                job.Begin();
                return;
            }
            Run();
        }

        protected override void StopProcessing()
        {
            stopped = true;
        }

        /// <summary>Runs the behaviour and turns what it throws into error records.</summary>
        internal void Run()
        {
            try
            {
                CallLog.Write(CommandName, arguments);
                if (NeedsService) Faults.CheckHost(this);
                Faults.MakeNoise(this);
                Faults.Apply(this, null, "before");
                Work();
                Faults.Apply(this, null, "after");
            }
            catch (Refusal refusal)
            {
                Output.Fail(refusal.ToRecord());
            }
            catch (NotImplementedException)
            {
                Output.Stop(new ErrorRecord(new NotImplementedException(CommandName + " is only bound, not simulated"), "NotSimulated", ErrorCategory.NotImplemented, null));
            }
        }

        internal bool Has(string name) { return arguments.ContainsKey(name); }

        internal bool Flag(string name)
        {
            object value = Value(name);
            if (value is SwitchParameter) return ((SwitchParameter)value).IsPresent;
            return value is bool && (bool)value;
        }

        internal object Value(string name)
        {
            object value;
            if (!arguments.TryGetValue(name, out value)) return null;
            PSObject wrapped = value as PSObject;
            return wrapped == null ? value : wrapped.BaseObject;
        }

        internal T Value<T>(string name, T otherwise)
        {
            object value = Value(name);
            return value == null ? otherwise : Values.To<T>(value);
        }

        internal string Text(string name) { return Value<string>(name, ""); }

        /// <summary>One or several values of a parameter, whichever it takes.</summary>
        internal List<T> List<T>(string name)
        {
            List<T> values = new List<T>();
            object value = Value(name);
            if (value is T) values.Add((T)value);
            else if (value is IEnumerable) foreach (object item in (IEnumerable)value) values.Add((T)(item is PSObject ? ((PSObject)item).BaseObject : item));
            return values;
        }

        /// <summary>The machines that the caller named or passed. A name without machine is an error, and the others go on.</summary>
        internal List<VirtualMachine> Targets()
        {
            if (Has("VM")) return List<VirtualMachine>("VM");
            List<VirtualMachine> machines = new List<VirtualMachine>();
            foreach (string name in List<string>(Has("VMName") ? "VMName" : "Name"))
            {
                List<VirtualMachine> found = VirtualMachine.Matching(name);
                if (found.Count == 0 && !WildcardPattern.ContainsWildcardCharacters(name)) Output.Fail(MissingMachine(name).ToRecord());
                machines.AddRange(found);
            }
            return machines;
        }

        internal virtual Refusal MissingMachine(string name)
        {
            return Refusal.NotFound(Texts.Host("vm_not_found", name));
        }

        /// <summary>Does something for each target that the caller confirms; one that fails does not hold up the rest.</summary>
        internal void ForEachTarget(Action<VirtualMachine> work)
        {
            foreach (VirtualMachine machine in Targets())
            {
                VirtualMachine target = machine;
                if (Output.ShouldProcess(target.Name, CommandName)) Guarded(target, delegate { work(target); });
            }
        }

        /// <summary>Runs work on one machine with its faults, and writes a failure as this machine's error.</summary>
        internal void Guarded(VirtualMachineBase machine, Action work)
        {
            try
            {
                Faults.Apply(this, machine.MachineNode, "before");
                Node before = machine.MachineNode;
                work();
                Faults.Apply(this, before, "after");
            }
            catch (Refusal refusal)
            {
                Output.Fail(refusal.ToRecord());
            }
        }

        /// <summary>Changes one machine's document alone among all processes, and records the side effect.</summary>
        internal void ChangeMachine(VirtualMachineBase machine, Action<Node> work)
        {
            World.Current.Change(delegate(WorldChange change)
            {
                string document = Machine.DocumentOf(machine.MachineId);
                if (!World.Current.Exists(document)) throw machine.Gone();
                work(change.Edit(document));
                CallLog.Effect(change, CommandName, machine.MachineId.ToString());
            });
        }

        /// <summary>Waits, showing progress and listening to a stop. What was begun on the host goes on after a stop.</summary>
        internal void Wait(double seconds, string activity)
        {
            Stopwatch watch = Stopwatch.StartNew();
            while (watch.Elapsed.TotalSeconds < seconds)
            {
                if (Output.Stopped) throw new PipelineStoppedException();
                int percent = (int)(100 * watch.Elapsed.TotalSeconds / seconds);
                Output.Progress(activity.Length == 0 ? CommandName : activity, percent);
                Thread.Sleep((int)Math.Min(50, Math.Max(1, 1000 * seconds / 20)));
            }
        }

        /// <summary>A path of the caller, made absolute against the session's location.</summary>
        internal string FullPath(string path)
        {
            if (path.Length > 1 && path[1] == ':' || path.StartsWith("\\\\", StringComparison.Ordinal)) return path;
            return System.IO.Path.IsPathRooted(path) ? path : System.IO.Path.Combine(SessionState.Path.CurrentFileSystemLocation.Path, path);
        }

        internal void WriteNoise()
        {
            if (!(Output is PipelineOutput)) return;
            WriteVerbose("simulated noise: verbose");
            WriteDebug("simulated noise: debug");
            WriteProgress(new ProgressRecord(7, "simulated noise", "progress"));
            Host.UI.WriteLine("simulated noise: host");
        }
    }
}
