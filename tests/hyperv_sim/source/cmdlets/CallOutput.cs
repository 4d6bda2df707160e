using System;
using System.Management.Automation;
using System.Threading;
using System.Threading.Tasks;

namespace HvlabSimulation
{
    /// <summary>Where a cmdlet's results go: its pipeline, or a job.</summary>
    internal interface ICallOutput
    {
        bool Stopped { get; }
        void Emit(object value);
        void Fail(ErrorRecord error);
        void Stop(ErrorRecord error);
        void Warn(string text);
        void Progress(string activity, int percent);
        bool ShouldProcess(string target, string action);
        bool ShouldContinue(string query, string caption);
    }

    internal sealed class PipelineOutput : ICallOutput
    {
        private readonly SimulatedCmdlet cmdlet;

        public PipelineOutput(SimulatedCmdlet cmdlet)
        {
            this.cmdlet = cmdlet;
        }

        public bool Stopped { get { return cmdlet.WasStopped; } }
        public void Emit(object value) { cmdlet.WriteObject(value); }
        public void Fail(ErrorRecord error) { cmdlet.WriteError(error); }
        public void Stop(ErrorRecord error) { cmdlet.ThrowTerminatingError(error); }
        public void Warn(string text) { cmdlet.WriteWarning(text); }
        public bool ShouldProcess(string target, string action) { return cmdlet.ShouldProcess(target, action); }

        public void Progress(string activity, int percent)
        {
            cmdlet.WriteProgress(new ProgressRecord(1, activity, percent + " %") { PercentComplete = Math.Min(100, percent) });
        }

        public bool ShouldContinue(string query, string caption)
        {
            try
            {
                return cmdlet.ShouldContinue(query, caption);
            }
            catch (PSInvalidOperationException)
            {
                throw Refusal.Operation(Texts.Host("non_interactive"));
            }
        }
    }

    /// <summary>The job of -AsJob. The real one's type is not known; this one behaves as any PowerShell job.</summary>
    internal sealed class SimulatedJob : Job, ICallOutput
    {
        private readonly SimulatedCmdlet cmdlet;
        private volatile bool stopped;

        public SimulatedJob(SimulatedCmdlet cmdlet, string command, string name) : base(command)
        {
            this.cmdlet = cmdlet;
            PSJobTypeName = "HyperVJob";
            SetJobState(JobState.NotStarted);
        }

        public override bool HasMoreData { get { return Output.Count + Error.Count + Warning.Count + Progress.Count > 0; } }
        public override string Location { get { return Environment.MachineName; } }
        public override string StatusMessage { get { return ""; } }
        public bool Stopped { get { return stopped; } }

        public void Begin()
        {
            SetJobState(JobState.Running);
            Task.Factory.StartNew(delegate
            {
                try
                {
                    cmdlet.Run();
                    SetJobState(stopped ? JobState.Stopped : Error.Count > 0 ? JobState.Failed : JobState.Completed);
                }
                catch (PipelineStoppedException)
                {
                    SetJobState(JobState.Stopped);
                }
                catch (Exception error)
                {
                    Error.Add(new ErrorRecord(error, "Unspecified", ErrorCategory.NotSpecified, null));
                    SetJobState(JobState.Failed);
                }
            }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }

        public override void StopJob() { stopped = true; }
        public void Emit(object value) { Output.Add(PSObject.AsPSObject(value)); }
        public void Fail(ErrorRecord error) { Error.Add(error); }
        public void Stop(ErrorRecord error) { Error.Add(error); }
        public void Warn(string text) { Warning.Add(new WarningRecord(text)); }
        public bool ShouldProcess(string target, string action) { return true; }
        public bool ShouldContinue(string query, string caption) { throw Refusal.Operation(Texts.Host("non_interactive")); }

        void ICallOutput.Progress(string activity, int percent)
        {
            Progress.Add(new ProgressRecord(1, activity, percent + " %") { PercentComplete = Math.Min(100, percent) });
        }
    }
}
