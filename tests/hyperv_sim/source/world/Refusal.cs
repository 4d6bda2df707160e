using System;
using System.Management.Automation;
using Microsoft.HyperV.PowerShell;

namespace Microsoft.HyperV.PowerShell
{
    /// <summary>The exception behind every Hyper-V error record.</summary>
    public class VirtualizationException : Exception
    {
        public VirtualizationException(string message) : base(message) { }
        public VirtualizationException(string message, Exception inner) : base(message, inner) { }
    }
}

namespace HvlabSimulation
{
    /// <summary>A failure on its way to an error record: the id before the comma, the category and the text.</summary>
    internal sealed class Refusal : Exception
    {
        public Refusal(string id, ErrorCategory category, string message) : base(message)
        {
            Id = id;
            Category = category;
        }

        public string Id { get; private set; }
        public ErrorCategory Category { get; private set; }
        public object Target { get; set; }

        public static Refusal NotFound(string message) { return new Refusal("ObjectNotFound", ErrorCategory.ObjectNotFound, message); }
        public static Refusal Invalid(string message) { return new Refusal("InvalidParameter", ErrorCategory.InvalidArgument, message); }
        public static Refusal Failed(string message) { return new Refusal("OperationFailed", ErrorCategory.NotSpecified, message); }
        public static Refusal Unspecified(string message) { return new Refusal("Unspecified", ErrorCategory.NotSpecified, message); }
        public static Refusal Busy(string message) { return new Refusal("ObjectInUse", ErrorCategory.ResourceBusy, message); }

        /// <summary>The category is not known from a real host; InvalidOperation is the likely one.</summary>
        public static Refusal State(string message) { return new Refusal("InvalidState", ErrorCategory.InvalidOperation, message); }

        /// <summary>A refused operation, such as a checkpoint where they are disabled.</summary>
        public static Refusal Operation(string message) { return new Refusal("InvalidOperation", ErrorCategory.InvalidOperation, message); }

        public ErrorRecord ToRecord()
        {
            return new ErrorRecord(new VirtualizationException(Message), Id, Category, Target);
        }
    }
}
