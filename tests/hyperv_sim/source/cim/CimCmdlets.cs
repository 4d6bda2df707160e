using System;
using System.Collections;
using System.Collections.Generic;
using System.Management.Automation;
using System.Text.RegularExpressions;
using HvlabSimulation;

namespace HvlabSimulation
{
    /// <summary>The base of the CIM cmdlets: they work whatever the virtual machine cmdlets do, and count as calls.</summary>
    public abstract class SimulatedCimCmdlet : PSCmdlet
    {
        internal void Log() { CallLog.Write(MyInvocation.MyCommand.Name, new Dictionary<string, object>(MyInvocation.BoundParameters)); }

        internal void Show(CimRecord record) { WriteObject(record.ToObject()); }

        internal void Fail(string hresult, string message, ErrorCategory category)
        {
            WriteError(new ErrorRecord(new InvalidOperationException(message), "HRESULT " + hresult, category, null));
        }

        /// <summary>Records of a class, or null and an error when the class is unknown.</summary>
        internal List<CimRecord> Records(string cimNamespace, string className)
        {
            List<CimRecord> records = CimClasses.List(cimNamespace, className);
            if (records == null) Fail("0x80041010", "Invalid class", ErrorCategory.MetadataError);
            return records;
        }
    }
}

namespace Microsoft.Management.Infrastructure.CimCmdlets
{
    [Cmdlet("Get", "CimInstance", DefaultParameterSetName = "ClassNameComputerSet")]
    public sealed class GetCimInstanceCommand : SimulatedCimCmdlet
    {
        [Parameter(Mandatory = true, Position = 0, ParameterSetName = "ClassNameComputerSet", ValueFromPipelineByPropertyName = true)]
        public string ClassName { get; set; }

        [Parameter(Mandatory = true, ParameterSetName = "QueryComputerSet", ValueFromPipelineByPropertyName = true)]
        public string Query { get; set; }

        [Parameter(Mandatory = true, Position = 0, ValueFromPipeline = true, ParameterSetName = "CimInstanceComputerSet")]
        [Alias("CimInstance")]
        public PSObject InputObject { get; set; }

        [Parameter(ParameterSetName = "ClassNameComputerSet")]
        [Parameter(ParameterSetName = "QueryComputerSet")]
        public string Namespace { get; set; }

        [Parameter(ParameterSetName = "ClassNameComputerSet")]
        public string Filter { get; set; }

        [Parameter(ParameterSetName = "ClassNameComputerSet")]
        [Alias("SelectProperties")]
        public string[] Property { get; set; }

        [Parameter(ParameterSetName = "ClassNameComputerSet")]
        public SwitchParameter KeyOnly { get; set; }

        [Parameter]
        [Alias("CN", "ServerName")]
        public string[] ComputerName { get; set; }

        [Parameter]
        [Alias("OT")]
        public uint OperationTimeoutSec { get; set; }

        [Parameter]
        public string QueryDialect { get; set; }

        protected override void ProcessRecord()
        {
            Log();
            if (InputObject != null)
            {
                Reread();
                return;
            }
            string filter = Filter;
            if (Query != null)
            {
                Match match = Regex.Match(Query, @"^\s*select\s+.+?\s+from\s+(\w+)(?:\s+where\s+(.+))?\s*$", RegexOptions.IgnoreCase | RegexOptions.Singleline);
                if (!match.Success)
                {
                    Fail("0x80041017", "Invalid query", ErrorCategory.InvalidArgument);
                    return;
                }
                ClassName = match.Groups[1].Value;
                filter = match.Groups[2].Success ? match.Groups[2].Value : null;
            }
            List<CimRecord> records = Records(Namespace, ClassName);
            if (records == null) return;
            foreach (CimRecord record in records) if (filter == null || Wql.Fits(record.Node, filter)) Show(record);
        }

        private void Reread()
        {
            List<CimRecord> records = Records(CimRecord.NamespaceOf(InputObject), CimRecord.ClassOf(InputObject));
            if (records == null) return;
            string key = CimRecord.KeyOf(InputObject);
            foreach (CimRecord record in records)
            {
                if (record.Key != key) continue;
                Show(record);
                return;
            }
            Fail("0x80041002", "Not found", ErrorCategory.ObjectNotFound);
        }
    }

    [Cmdlet("Get", "CimAssociatedInstance", DefaultParameterSetName = "ComputerSet")]
    public sealed class GetCimAssociatedInstanceCommand : SimulatedCimCmdlet
    {
        [Parameter(Mandatory = true, Position = 0, ValueFromPipeline = true)]
        [Alias("CimInstance")]
        public PSObject InputObject { get; set; }

        [Parameter(Position = 1)]
        public string Association { get; set; }

        [Parameter]
        public string ResultClassName { get; set; }

        [Parameter]
        public string Namespace { get; set; }

        [Parameter]
        public string[] ComputerName { get; set; }

        protected override void ProcessRecord()
        {
            Log();
            string system = CimRecord.SystemOf(InputObject);
            List<string> classes = new List<string>();
            if (ResultClassName != null) classes.Add(ResultClassName);
            else if (Association == "Msvm_SettingsDefineState" || Association == "Msvm_SnapshotOfVirtualSystem") classes.Add("Msvm_VirtualSystemSettingData");
            else if (Association == "Msvm_SystemDevice") classes.AddRange(new[] { "Msvm_Keyboard", "Msvm_SyntheticMouse", "Msvm_VideoHead", "Msvm_KvpExchangeComponent", "Msvm_ShutdownComponent", "Msvm_HeartbeatComponent" });
            else classes.Add("Msvm_VirtualSystemSettingData");
            foreach (string className in classes)
            {
                List<CimRecord> records = Records(Namespace ?? CimRecord.NamespaceOf(InputObject), className);
                if (records == null) return;
                foreach (CimRecord record in records)
                {
                    bool snapshot = record.Node.Text("VirtualSystemType").StartsWith("Microsoft:Hyper-V:Snapshot", StringComparison.Ordinal);
                    if (Association == "Msvm_SettingsDefineState" && snapshot) continue;
                    if (Association == "Msvm_SnapshotOfVirtualSystem" && !snapshot) continue;
                    if (record.System == system) Show(record);
                }
            }
        }
    }

    [Cmdlet("Invoke", "CimMethod", DefaultParameterSetName = "ClassNameComputerSet", SupportsShouldProcess = true, ConfirmImpact = ConfirmImpact.Medium)]
    public sealed class InvokeCimMethodCommand : SimulatedCimCmdlet
    {
        [Parameter(Mandatory = true, Position = 0, ParameterSetName = "ClassNameComputerSet")]
        public string ClassName { get; set; }

        [Parameter(Mandatory = true, Position = 0, ValueFromPipeline = true, ParameterSetName = "CimInstanceComputerSet")]
        [Alias("CimInstance")]
        public PSObject InputObject { get; set; }

        [Parameter(Mandatory = true, Position = 2)]
        [Alias("Name")]
        public string MethodName { get; set; }

        [Parameter(Position = 1)]
        public IDictionary Arguments { get; set; }

        [Parameter(ParameterSetName = "ClassNameComputerSet")]
        public string Namespace { get; set; }

        [Parameter]
        public string[] ComputerName { get; set; }

        [Parameter]
        public uint OperationTimeoutSec { get; set; }

        protected override void ProcessRecord()
        {
            Log();
            string className = ClassName ?? CimRecord.ClassOf(InputObject);
            if (!ShouldProcess(className, MethodName)) return;
            Node arguments = new Node();
            if (Arguments != null) foreach (DictionaryEntry argument in Arguments) arguments[argument.Key.ToString()] = argument.Value is PSObject && !(((PSObject)argument.Value).BaseObject is PSCustomObject) ? ((PSObject)argument.Value).BaseObject : argument.Value;
            Node result;
            try
            {
                result = CimMethods.Invoke(className, MethodName, InputObject, arguments);
            }
            catch (Refusal refusal)
            {
                Fail("0x80041002", refusal.Message, ErrorCategory.ObjectNotFound);
                return;
            }
            if (result == null)
            {
                Fail("0x80041055", "Invalid method", ErrorCategory.MetadataError);
                return;
            }
            PSObject answer = new PSObject();
            answer.TypeNames.Insert(0, "Microsoft.Management.Infrastructure.CimMethodResult");
            answer.TypeNames.Insert(0, "Microsoft.Management.Infrastructure.CimMethodResult#" + className + "#" + MethodName);
            foreach (KeyValuePair<string, object> member in result) answer.Properties.Add(new PSNoteProperty(member.Key, member.Value is CimRecord ? ((CimRecord)member.Value).ToObject() : member.Value));
            answer.Properties.Add(new PSNoteProperty("PSComputerName", null));
            WriteObject(answer);
        }
    }
}
