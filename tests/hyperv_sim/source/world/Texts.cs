using System;
using System.Collections.Generic;
using System.Globalization;

namespace HvlabSimulation
{
    /// <summary>
    /// Messages and names as the host's language has them. English ones are spelt as real hosts print them; the German and
    /// Russian ones are ours, close to the real ones, and exist so that nobody matches on English.
    /// </summary>
    internal static class Texts
    {
        private static readonly Dictionary<string, string> English = new Dictionary<string, string>
        {
            { "default_switch", "Default Switch" },
            { "vm_not_found", "Hyper-V was unable to find a virtual machine with name \"{0}\"." },
            { "vm_id_not_found", "Hyper-V was unable to find a virtual machine with id \"{0}\"." },
            { "switch_not_found", "Hyper-V was unable to find a virtual switch with name \"{0}\"." },
            { "checkpoint_not_found", "Hyper-V was unable to find a checkpoint with name \"{0}\"." },
            { "part_not_found", "Unable to find a {0} matching the given criteria." },
            { "no_permission", "You do not have the required permission to complete this task. Contact the administrator of the authorization policy for the computer '{0}'." },
            { "object_gone", "Hyper-V encountered an error trying to access an object on computer '{0}' because the object was not found. The object might have been deleted, or you might not have permission to perform the task. Verify that the Virtual Machine Management service on the computer is running. If the service is running, try to perform the task again by using Run as Administrator." },
            { "wrong_state", "The operation cannot be performed while the virtual machine is in its current state." },
            { "already_so", "The virtual machine is already in the specified state." },
            { "modified_elsewhere", "'{0}' is being modified by another operation. (Virtual machine ID {1})" },
            { "start_failed", "'{0}' failed to start." },
            { "start_failed_id", "'{0}' failed to start. (Virtual machine ID {1})" },
            { "no_memory", "Not enough memory in the system to start the virtual machine {0}.\nCould not initialize memory: Not enough memory resources are available to complete this operation. (0x8007000E)." },
            { "no_memory_id", "Not enough memory in the system to start the virtual machine {0} with ram size {1} megabytes. (Virtual machine ID {2})" },
            { "attachment", "{0} (Instance ID {1}): Failed to Power on with Error '{2}'.\nFailed to open attachment '{3}'. Error: '{2}'." },
            { "attachment_id", "'{0}' {1} (Instance ID {2}): Failed to Power on with Error '{3}' ({4}). (Virtual machine ID {5})\n'{0}': Attachment '{6}' failed to open because of error: '{3}' ({4}). (Virtual machine ID {5})" },
            { "file_missing", "The system cannot find the file specified." },
            { "file_busy", "The process cannot access the file because it is being used by another process." },
            { "chain_broken", "The chain of virtual hard disks is corrupted. One of the parent virtual hard disks for the differencing disk could not be located." },
            { "chain_mismatch", "The chain of virtual hard disks is corrupted. There is a mismatch in the identifiers of the parent virtual hard disk and differencing disk." },
            { "checkpoint_failed", "Checkpoint operation failed.\nCheckpoint operation for '{0}' failed. (Virtual machine ID {1})" },
            { "checkpoint_disabled", "Checkpoint operation failed.\nCheckpoints have been disabled.\nCheckpoint operation for '{0}' failed. (Virtual machine ID {1})\nCheckpoints have been disabled for '{0}'. (Virtual machine ID {1})" },
            { "vhd_exists", "Failed to create the virtual hard disk.\nThe system failed to create '{0}'.\nFailed to create the virtual hard disk.\nThe system failed to create '{0}': The file exists. (0x80070050)." },
            { "vhd_no_folder", "Failed to create the virtual hard disk.\nThe system failed to create '{0}'.\nFailed to create the virtual hard disk.\nThe system failed to create '{0}': The system cannot find the path specified. (0x80070003)." },
            { "vhd_unreadable", "Getting the mounted storage instance for the path '{0}' failed.\nThe operation cannot be performed because '{0}' is not a virtual hard disk. (0xC03A0015)." },
            { "vhd_missing", "Getting the mounted storage instance for the path '{0}' failed.\nThe operation failed because the file was not found. (0x80070002)." },
            { "vhd_failed", "Failed to {0} the virtual disk.\nThe system failed to {0} '{1}'.\nFailed to {0} the virtual disk.\nThe system failed to {0} '{1}': {2}" },
            { "resize_smaller", "The requested operation cannot be performed as resize operation to new size that is smaller than or equal to the current size is supported only on virtual hard disks that are of VHDX format." },
            { "in_use", "The operation cannot be performed while the object is in use." },
            { "tpm_template", "The secure boot template id cannot be changed after virtual TPM initialization." },
            { "switch_fixed", "Failed while removing virtual Ethernet switch.\nThe automatic Internet Connection Sharing switch cannot be modified." },
            { "switch_used", "Failed while removing virtual Ethernet switch.\nThe virtual switch '{0}' cannot be deleted because it is being used by running virtual machines or assigned to child pools.\nThe operation cannot be performed while the object is in use." },
            { "nothing_to_set", "You must specify at least one parameter." },
            { "import_conflict", "Unable to import virtual machine due to configuration errors.  Please use Compare-VM to repair the virtual machine." },
            { "export_exists", "Failed to export the virtual machine.\n'{0}' to '{1}': The file exists. (0x80070050)." },
            { "copy_not_ready", "Failed to initiate copying files to the guest.\nFailed to copy the source file '{0}' to the destination '{1}' in the guest.\n'{2}' failed to initiate copying files to the guest: The device is not ready for use. (0x800710DF). (Virtual machine ID {3})\n'{2}' failed to copy the source file '{0}' to the destination '{1}' in the guest." },
            { "non_interactive", "PowerShell is in NonInteractive mode. Read and Prompt functionality is not available." },
            { "not_metered", "Resource metering is not enabled for the virtual machine '{0}'." },
            { "failed", "The operation failed." },
            { "job_failed", "The operation failed with error code '32768'." },
            { "operating", "Operating normally" },
            { "no_contact", "No Contact" },
            { "lost_contact", "Lost Communication" },
            { "ok", "OK" },
            { "merging", "Merging disks" },
            { "creating_checkpoint", "Creating checkpoint" },
            { "exporting", "Exporting virtual machine" },
            { "deleting_checkpoint", "Deleting checkpoint" },
            { "network_adapter", "Network Adapter" },
            { "processor", "Processor" },
            { "memory", "Memory" },
            { "hard_drive", "Hard Drive" },
            { "dvd_drive", "DVD Drive" },
            { "Guest Service Interface", "Guest Service Interface" },
            { "Heartbeat", "Heartbeat" },
            { "Key-Value Pair Exchange", "Key-Value Pair Exchange" },
            { "Shutdown", "Shutdown" },
            { "Time Synchronization", "Time Synchronization" },
            { "VSS", "VSS" },
        };

        private static readonly Dictionary<string, string> German = new Dictionary<string, string>
        {
            { "default_switch", "Standardswitch" },
            { "vm_not_found", "Hyper-V konnte keinen virtuellen Computer mit dem Namen \"{0}\" finden." },
            { "no_permission", "Sie verf\u00fcgen nicht \u00fcber die erforderliche Berechtigung, um diese Aufgabe auszuf\u00fchren. Wenden Sie sich an den Administrator der Autorisierungsrichtlinie f\u00fcr den Computer \"{0}\"." },
            { "wrong_state", "Der Vorgang kann nicht ausgef\u00fchrt werden, solange sich der virtuelle Computer im aktuellen Zustand befindet." },
            { "already_so", "Der virtuelle Computer befindet sich bereits im angegebenen Zustand." },
            { "checkpoint_disabled", "Fehler beim Pr\u00fcfpunktvorgang.\nPr\u00fcfpunkte wurden deaktiviert.\nFehler beim Pr\u00fcfpunktvorgang f\u00fcr \"{0}\". (ID des virtuellen Computers: {1})\nPr\u00fcfpunkte wurden f\u00fcr \"{0}\" deaktiviert. (ID des virtuellen Computers: {1})" },
            { "operating", "Normaler Betrieb" },
            { "no_contact", "Kein Kontakt" },
            { "merging", "Datentr\u00e4ger werden zusammengef\u00fchrt" },
            { "network_adapter", "Netzwerkkarte" },
            { "processor", "Prozessor" },
            { "memory", "Arbeitsspeicher" },
            { "hard_drive", "Festplatte" },
            { "dvd_drive", "DVD-Laufwerk" },
            { "Guest Service Interface", "Gastdienstschnittstelle" },
            { "Heartbeat", "Takt" },
            { "Key-Value Pair Exchange", "Austausch von Schl\u00fcsselwertepaaren" },
            { "Shutdown", "Herunterfahren" },
            { "Time Synchronization", "Zeitsynchronisierung" },
        };

        private static readonly Dictionary<string, string> Russian = new Dictionary<string, string>
        {
            { "default_switch", "\u041a\u043e\u043c\u043c\u0443\u0442\u0430\u0442\u043e\u0440 \u043f\u043e \u0443\u043c\u043e\u043b\u0447\u0430\u043d\u0438\u044e" },
            { "vm_not_found", "Hyper-V \u043d\u0435 \u0443\u0434\u0430\u043b\u043e\u0441\u044c \u043d\u0430\u0439\u0442\u0438 \u0432\u0438\u0440\u0442\u0443\u0430\u043b\u044c\u043d\u0443\u044e \u043c\u0430\u0448\u0438\u043d\u0443 \u0441 \u0438\u043c\u0435\u043d\u0435\u043c \"{0}\"." },
            { "no_permission", "\u041d\u0435\u0442 \u043f\u0440\u0430\u0432 \u0434\u043b\u044f \u0432\u044b\u043f\u043e\u043b\u043d\u0435\u043d\u0438\u044f \u044d\u0442\u043e\u0439 \u0437\u0430\u0434\u0430\u0447\u0438 \u043d\u0430 \u043a\u043e\u043c\u043f\u044c\u044e\u0442\u0435\u0440\u0435 \"{0}\"." },
            { "operating", "\u0420\u0430\u0431\u043e\u0442\u0430\u0435\u0442 \u043d\u043e\u0440\u043c\u0430\u043b\u044c\u043d\u043e" },
            { "network_adapter", "\u0421\u0435\u0442\u0435\u0432\u043e\u0439 \u0430\u0434\u0430\u043f\u0442\u0435\u0440" },
            { "Heartbeat", "\u041f\u0443\u043b\u044c\u0441" },
            { "Shutdown", "\u0417\u0430\u0432\u0435\u0440\u0448\u0435\u043d\u0438\u0435 \u0440\u0430\u0431\u043e\u0442\u044b" },
        };

        /// <summary>A text in a language; English where the language has none.</summary>
        public static string Get(string language, string key, params object[] values)
        {
            Dictionary<string, string> table = language == "de" ? German : language == "ru" ? Russian : English;
            string text;
            if (!table.TryGetValue(key, out text)) text = English[key];
            return values.Length == 0 ? text : string.Format(CultureInfo.InvariantCulture, text, values);
        }

        /// <summary>A text in the language of the present host.</summary>
        public static string Host(string key, params object[] values)
        {
            return Get(World.Current.Document("host").Text("Language"), key, values);
        }
    }
}
