using System;
using System.Collections.Generic;
using System.Management.Automation;
using System.Management.Automation.Remoting;
using System.Management.Automation.Runspaces;
using HvlabSimulation;

namespace Microsoft.PowerShell.Commands
{
    /// <summary>New-PSSession with the virtual machine sets; a host needs no others.</summary>
    [Cmdlet("New", "PSSession", DefaultParameterSetName = "ComputerName")]
    [OutputType(typeof(PSSession))]
    public sealed class NewPSSessionCommand : PSCmdlet
    {
        [Parameter(Position = 0, Mandatory = true, ParameterSetName = "VMId", ValueFromPipelineByPropertyName = true)]
        [Alias("VMGuid")]
        [ValidateNotNullOrEmpty]
        public Guid[] VMId { get; set; }

        [Parameter(Mandatory = true, ParameterSetName = "VMName", ValueFromPipelineByPropertyName = true)]
        [ValidateNotNullOrEmpty]
        public string[] VMName { get; set; }

        [Parameter(Mandatory = true, ParameterSetName = "VMId")]
        [Parameter(Mandatory = true, ParameterSetName = "VMName")]
        [Credential]
        public PSCredential Credential { get; set; }

        [Parameter(Position = 0, ParameterSetName = "ComputerName")]
        public string[] ComputerName { get; set; }

        [Parameter(ParameterSetName = "VMId")]
        [Parameter(ParameterSetName = "VMName")]
        public string ConfigurationName { get; set; }

        [Parameter]
        public string[] Name { get; set; }

        [Parameter]
        public int ThrottleLimit { get; set; }

        protected override void ProcessRecord()
        {
            if (VMId == null && VMName == null)
            {
                ThrowTerminatingError(new ErrorRecord(new NotImplementedException("New-PSSession is simulated for virtual machines only"), "NotSimulated", ErrorCategory.NotImplemented, null));
            }
            foreach (Node machine in DirectSession.Resolve(this, VMId, VMName))
            {
                PSSession session = DirectSession.Open(this, machine, Credential, "PSSessionOpenFailed");
                if (session == null) continue;
                if (Name != null && Name.Length > 0) session.Name = Name[0];
                WriteObject(session);
            }
        }
    }

    /// <summary>Invoke-Command: the virtual machine sets open a session for one call; all others are the real cmdlet's.</summary>
    [Cmdlet("Invoke", "Command", DefaultParameterSetName = "InProcess")]
    public sealed class InvokeCommandCommand : PSCmdlet
    {
        private readonly List<object> input = new List<object>();

        [Parameter(Position = 0, Mandatory = true, ParameterSetName = "VMId", ValueFromPipelineByPropertyName = true)]
        [Parameter(Position = 0, Mandatory = true, ParameterSetName = "FilePathVMId", ValueFromPipelineByPropertyName = true)]
        [Alias("VMGuid")]
        public Guid[] VMId { get; set; }

        [Parameter(Mandatory = true, ParameterSetName = "VMName", ValueFromPipelineByPropertyName = true)]
        [Parameter(Mandatory = true, ParameterSetName = "FilePathVMName", ValueFromPipelineByPropertyName = true)]
        public string[] VMName { get; set; }

        [Parameter(Mandatory = true, ParameterSetName = "VMId")]
        [Parameter(Mandatory = true, ParameterSetName = "VMName")]
        [Parameter(Mandatory = true, ParameterSetName = "FilePathVMId")]
        [Parameter(Mandatory = true, ParameterSetName = "FilePathVMName")]
        [Credential]
        public PSCredential Credential { get; set; }

        [Parameter(Position = 0, ParameterSetName = "Session")]
        [Parameter(Position = 0, ParameterSetName = "FilePathRunspace")]
        public PSSession[] Session { get; set; }

        [Parameter(Position = 0, Mandatory = true, ParameterSetName = "InProcess")]
        [Parameter(Position = 1, Mandatory = true, ParameterSetName = "Session")]
        [Parameter(Position = 1, Mandatory = true, ParameterSetName = "VMId")]
        [Parameter(Position = 1, Mandatory = true, ParameterSetName = "VMName")]
        [Alias("Command")]
        public ScriptBlock ScriptBlock { get; set; }

        [Parameter(Position = 1, Mandatory = true, ParameterSetName = "FilePathRunspace")]
        [Parameter(Position = 1, Mandatory = true, ParameterSetName = "FilePathVMId")]
        [Parameter(Position = 1, Mandatory = true, ParameterSetName = "FilePathVMName")]
        [Alias("PSPath")]
        public string FilePath { get; set; }

        [Parameter(ParameterSetName = "InProcess")]
        public SwitchParameter NoNewScope { get; set; }

        [Parameter(ParameterSetName = "Session")]
        [Parameter(ParameterSetName = "FilePathRunspace")]
        [Parameter(ParameterSetName = "VMId")]
        [Parameter(ParameterSetName = "VMName")]
        [Parameter(ParameterSetName = "FilePathVMId")]
        [Parameter(ParameterSetName = "FilePathVMName")]
        public SwitchParameter AsJob { get; set; }

        [Parameter(ParameterSetName = "Session")]
        [Parameter(ParameterSetName = "FilePathRunspace")]
        [Parameter(ParameterSetName = "VMId")]
        [Parameter(ParameterSetName = "VMName")]
        [Parameter(ParameterSetName = "FilePathVMId")]
        [Parameter(ParameterSetName = "FilePathVMName")]
        [Alias("HCN")]
        public SwitchParameter HideComputerName { get; set; }

        [Parameter(ParameterSetName = "Session")]
        [Parameter(ParameterSetName = "FilePathRunspace")]
        [Parameter(ParameterSetName = "VMId")]
        [Parameter(ParameterSetName = "VMName")]
        public int ThrottleLimit { get; set; }

        [Parameter(ParameterSetName = "Session")]
        [Parameter(ParameterSetName = "FilePathRunspace")]
        public string JobName { get; set; }

        [Parameter(ValueFromPipeline = true)]
        public PSObject InputObject { get; set; }

        [Parameter]
        [Alias("Args")]
        public object[] ArgumentList { get; set; }

        protected override void ProcessRecord()
        {
            if (MyInvocation.BoundParameters.ContainsKey("InputObject")) input.Add(InputObject);
        }

        protected override void EndProcessing()
        {
            Dictionary<string, object> arguments = new Dictionary<string, object>(MyInvocation.BoundParameters);
            foreach (string name in new[] { "InputObject", "ErrorVariable", "WarningVariable", "OutVariable", "OutBuffer", "PipelineVariable", "InformationVariable" }) arguments.Remove(name);
            if (VMId == null && VMName == null)
            {
                if (Session != null && Array.Exists(Session, DirectSession.HasEnded)) WriteBroken(new PSRemotingTransportException("The Hyper-V socket target process has ended."));
                else RunReal(arguments);
                return;
            }
            foreach (string name in new[] { "VMId", "VMName", "Credential" }) arguments.Remove(name);
            foreach (Node machine in DirectSession.Resolve(this, VMId, VMName))
            {
                PSSession session = DirectSession.Open(this, machine, Credential, "PSSessionStateBroken");
                if (session == null) continue;
                arguments["Session"] = session;
                RunReal(arguments);
                if (!AsJob) session.Runspace.Dispose();
            }
        }

        // Through the engine's own pipeline, so that streams, errors and preferences go where the caller's do.
        private void RunReal(Dictionary<string, object> arguments)
        {
            System.Collections.Hashtable table = new System.Collections.Hashtable();
            foreach (KeyValuePair<string, object> argument in arguments) table[argument.Key] = argument.Value;
            string text = input.Count > 0 ? "param($a, $i) $i | Microsoft.PowerShell.Core\\Invoke-Command @a" : "param($a) Microsoft.PowerShell.Core\\Invoke-Command @a";
            ScriptBlock script = ScriptBlock.Create(text);
            try
            {
                Step(script, table);
            }
            catch (RuntimeException error)
            {
                // The guest's process went away under the call.
                if (Session == null || Session[0].Runspace.RunspaceStateInfo.State == RunspaceState.Opened) throw;
                WriteBroken(error.InnerException ?? error);
            }
        }

        private void WriteBroken(Exception error)
        {
            WriteError(new ErrorRecord(error, "PSSessionStateBroken", ErrorCategory.OpenError, Session[0]));
        }

        private void Step(ScriptBlock script, System.Collections.Hashtable table)
        {
            using (SteppablePipeline pipeline = ScriptBlock.Create("param($s, $a, $i) & $s $a $i").GetSteppablePipeline(CommandOrigin.Internal, new object[] { script, table, input.ToArray() }))
            {
                pipeline.Begin(this);
                pipeline.Process();
                pipeline.End();
            }
        }
    }
}
