using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Management.Automation;
using System.Management.Automation.Remoting;
using System.Management.Automation.Runspaces;
using System.Net;
using System.Reflection;
using System.Threading;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>PowerShell Direct: finds the machine as the real cmdlets do and opens a session to a child PowerShell.</summary>
    internal static class DirectSession
    {
        private static readonly Dictionary<Guid, Process> Guests = new Dictionary<Guid, Process>();

        /// <summary>True when the guest's process behind a session is gone, as after a power off.</summary>
        public static bool HasEnded(PSSession session)
        {
            Process process;
            lock (Guests) if (!Guests.TryGetValue(session.Runspace.InstanceId, out process)) return false;
            return process.HasExited;
        }

        public static ErrorRecord Error(Exception error, string id, ErrorCategory category, object target)
        {
            return new ErrorRecord(error, id, category, target);
        }

        /// <summary>The machines that an id or a name gives, each failure as the real cmdlets write it.</summary>
        public static List<Node> Resolve(PSCmdlet cmdlet, Guid[] ids, string[] names)
        {
            List<Node> machines = new List<Node>();
            foreach (Guid id in ids ?? new Guid[0])
            {
                bool found = !Faults.HidesMachines && World.Current.Exists(Machine.DocumentOf(id));
                Add(cmdlet, machines, found ? new List<Node> { World.Current.Document(Machine.DocumentOf(id)) } : new List<Node>(), "InvalidVMIdNotSingle", "VMId " + id);
            }
            foreach (string name in names ?? new string[0])
            {
                List<Node> found = new List<Node>();
                foreach (VirtualMachine machine in VirtualMachine.Matching(name)) found.Add(machine.MachineNode);
                Add(cmdlet, machines, found, "InvalidVMNameNotSingle", "VMName " + name);
            }
            return machines;
        }

        private static void Add(PSCmdlet cmdlet, List<Node> machines, List<Node> found, string id, string what)
        {
            if (found.Count != 1)
            {
                cmdlet.WriteError(Error(new ArgumentException("The input " + what + " does not resolve to a single virtual machine."), id, ErrorCategory.InvalidArgument, null));
                return;
            }
            if (!Machine.Runs(found[0]))
            {
                cmdlet.WriteError(Error(new ArgumentException("The virtual machine " + found[0].Text("Name") + " is not in running state."), "InvalidVMState", ErrorCategory.InvalidArgument, null));
                return;
            }
            machines.Add(found[0]);
        }

        /// <summary>Opens a session; `failedId` is the id that the calling cmdlet gives to a failed open.</summary>
        public static PSSession Open(PSCmdlet cmdlet, Node machine, PSCredential credential, string failedId)
        {
            NetworkCredential network = credential.GetNetworkCredential();
            if (Faults.Settings.Text("guest") == "silent") Thread.Sleep(Timeout.Infinite);
            if (!Machine.GuestAnswers(machine) || Machine.GuestOs(machine) == "linux")
            {
                Fail(cmdlet, new PSRemotingTransportException("An error has occurred which PowerShell cannot handle. A remote session might have ended."), failedId);
                return null;
            }
            string user = Convert.ToString(Machine.Guest(machine, "User") ?? "lab");
            string password = Convert.ToString(Machine.Guest(machine, "Password") ?? "lab");
            string given = network.UserName.TrimStart('.', '\\');
            Node others = Machine.Guest(machine, "Others") as Node;
            bool isOther = others != null && others.Has(given) && network.Password == others.Text(given);
            if (!isOther && (!string.Equals(given, user, StringComparison.OrdinalIgnoreCase) || network.Password != password))
            {
                Fail(cmdlet, new PSDirectException("The credential is invalid."), failedId);
                return null;
            }
            return Start(cmdlet, machine, network.UserName);
        }

        private static void Fail(PSCmdlet cmdlet, Exception error, string id)
        {
            cmdlet.WriteError(Error(error, id, ErrorCategory.OpenError, null));
        }

        private static PSSession Start(PSCmdlet cmdlet, Node machine, string user)
        {
            PowerShellProcessInstance instance = new PowerShellProcessInstance();
            System.Collections.Specialized.StringDictionary environment = instance.Process.StartInfo.EnvironmentVariables;
            string folder = GuestProcesses.FolderOf(machine);
            environment.Remove("HVLAB_GUEST_PASSWORD");
            environment.Remove(World.FolderVariable);
            environment["COMPUTERNAME"] = GuestProcesses.HostName(machine);
            environment["USERNAME"] = user;
            environment["HVLAB_SIM_VM_ID"] = machine.Text("Id");
            environment["TEMP"] = System.IO.Path.Combine(folder, "disk");
            environment["TMP"] = environment["TEMP"];
            environment["TMPDIR"] = environment["TEMP"];
            environment["PATH"] = GuestProcesses.ProgramsOf(machine, instance.Process.StartInfo.FileName) + System.IO.Path.PathSeparator + environment["PATH"];
            instance.Process.StartInfo.WorkingDirectory = System.IO.Path.Combine(folder, "disk");
            Runspace runspace = RunspaceFactory.CreateOutOfProcessRunspace(TypeTable.LoadDefaultTypeFiles(), instance);
            runspace.Open();
            GuestProcesses.Remember(machine, instance.Process.Id);
            lock (Guests) Guests[runspace.InstanceId] = Process.GetProcessById(instance.Process.Id);
            BrokenPipe.Watch(runspace, Guests[runspace.InstanceId]);
            Prepare(runspace, machine);
            PSSession session = Wrap(runspace, cmdlet);
            session.Name = machine.Text("Name");
            PSObject.AsPSObject(session).Properties.Add(new PSNoteProperty("SimulatedVMId", machine.Id("Id")));
            return session;
        }

        // Where the guest finds its own id and name on Windows: a registry key that the host fills.
        private static void Prepare(Runspace runspace, Node machine)
        {
            using (PowerShell shell = PowerShell.Create())
            {
                shell.Runspace = runspace;
                shell.AddScript(GuestProfile.Script).AddArgument(machine.Text("Id").ToUpperInvariant()).AddArgument(machine.Text("Name"))
                    .AddArgument(World.Current.Document("host").Text("Name"));
                shell.Invoke();
            }
        }

        // PowerShell 7 has a public method for it, Windows PowerShell 5.1 only a constructor of its own.
        private static PSSession Wrap(Runspace runspace, PSCmdlet cmdlet)
        {
            MethodInfo create = typeof(PSSession).GetMethod("Create", BindingFlags.Public | BindingFlags.Static);
            if (create != null) return (PSSession)create.Invoke(null, new object[] { runspace, "VMBus", cmdlet });
            ConstructorInfo constructor = typeof(PSSession).GetConstructor(BindingFlags.NonPublic | BindingFlags.Instance, null, new[] { runspace.GetType() }, null);
            PSSession session = (PSSession)constructor.Invoke(new object[] { runspace });
            object repository = typeof(PSCmdlet).Assembly.GetType("System.Management.Automation.RunspaceRepository") == null ? null
                : typeof(Cmdlet).GetProperty("RunspaceRepository", BindingFlags.NonPublic | BindingFlags.Instance).GetValue(cmdlet, null);
            if (repository != null) repository.GetType().GetMethod("Add").Invoke(repository, new object[] { session });
            return session;
        }
    }

    /// <summary>What a session of the guest starts with.</summary>
    internal static class GuestProfile
    {
        public const string Script = @"
param($vmId, $vmName, $hostName)
$global:SimulatedGuestKeys = @{ 'HKLM:\SOFTWARE\Microsoft\Virtual Machine\Guest\Parameters' = [pscustomobject] @{
    HostName = $hostName; PhysicalHostName = $hostName; PhysicalHostNameFullyQualified = $hostName
    VirtualMachineDynamicMemoryBalancingEnabled = 0; VirtualMachineId = $vmId; VirtualMachineName = $vmName } }
if (-not (Get-PSProvider -PSProvider Registry -ErrorAction Ignore)) {
    function global:Get-ItemProperty {
        param([Parameter(Position = 0)] $Path, $LiteralPath, [Parameter(Position = 1)] [string[]] $Name)
        $where = ""$Path$LiteralPath"" -replace '^(Microsoft.PowerShell.Core\\)?Registry::HKEY_LOCAL_MACHINE', 'HKLM:'
        if ($SimulatedGuestKeys.ContainsKey($where)) { return $SimulatedGuestKeys[$where] }
        Microsoft.PowerShell.Management\Get-ItemProperty @PSBoundParameters
    }
    function global:Get-ItemPropertyValue {
        param([Parameter(Position = 0)] $Path, $LiteralPath, [Parameter(Position = 1)] [string] $Name)
        (Get-ItemProperty -Path ""$Path$LiteralPath"").$Name
    }
}
";
    }

    /// <summary>Stands for the exception of PowerShell Direct, which exists on Windows only.</summary>
    public sealed class PSDirectException : RuntimeException
    {
        public PSDirectException(string message) : base(message) { }
    }
}
