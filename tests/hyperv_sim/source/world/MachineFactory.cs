using System;
using System.Collections.Generic;

namespace HvlabSimulation
{
    /// <summary>Documents of new machines and of their parts.</summary>
    internal static class MachineFactory
    {
        private static readonly string[] ServiceNames =
        {
            "Guest Service Interface", "Heartbeat", "Key-Value Pair Exchange", "Shutdown", "Time Synchronization", "VSS"
        };

        private static readonly string[] ServiceIds =
        {
            "6C09BB55-D683-4DA0-8931-C9BF705F6480", "84EAAE65-2F2E-45F5-9BB5-0E857DC8EB47", "2A34B1C2-FD73-4043-8A5B-DD2159BC743F",
            "9F8233AC-BE49-4C79-8EE3-E7E1985B2077", "2497F4DE-E9FA-4204-80E4-4B75C46419C0", "5CED1297-4598-4915-A5FC-AD21BB4D02A4"
        };

        public static Node Create(Guid id, string name, int generation, string version, long startup, string folder)
        {
            Node host = World.Current.Document("host");
            Node settings = new Node().With("Generation", generation).With("Version", version).With("Notes", "")
                .With("ConfigurationLocation", folder).With("SmartPagingFilePath", folder).With("SnapshotFileLocation", folder).With("Path", folder)
                .With("GuestStatePath", folder)
                .With("AutomaticStartAction", "StartIfRunning").With("AutomaticStopAction", "Save").With("AutomaticStartDelay", 0L)
                .With("AutomaticCriticalErrorAction", "Pause").With("AutomaticCriticalErrorActionTimeout", 30L)
                .With("AutomaticCheckpointsEnabled", host.Flag("ClientEdition")).With("CheckpointType", "Production")
                .With("EnhancedSessionTransportType", "VMBus").With("GuestStateIsolationType", "Disabled").With("LockOnDisconnect", "Off")
                .With("LowMemoryMappedIoSpace", 134217728L).With("HighMemoryMappedIoSpace", 536870912L).With("BatteryPassthroughEnabled", true)
                .With("Memory", Part(id, "Memory", Texts.Host("memory")).With("Startup", startup).With("Minimum", 536870912L)
                    .With("Maximum", 1099511627776L).With("DynamicMemoryEnabled", false).With("Buffer", 20L).With("Priority", 50L)
                    .With("MaximumPerNumaNode", 32768L).With("ResourcePoolName", "Primordial"))
                .With("Processor", Part(id, "Processor", Texts.Host("processor")).With("Count", 1L).With("Maximum", 100L).With("Reserve", 0L)
                    .With("RelativeWeight", 100L).With("MaximumCountPerNumaNode", 8L).With("MaximumCountPerNumaSocket", 1L)
                    .With("AllowACountMCount", true).With("ResourcePoolName", "Primordial"))
                .With("Video", Part(id, "Video", "Video").With("ResolutionType", "Default").With("HorizontalResolution", 1024L).With("VerticalResolution", 768L))
                .With("ComPorts", new List<object> { ComPort(id, 1), ComPort(id, 2) })
                .With("Services", Services(id));
            if (generation == 1)
            {
                settings["Bios"] = new Node().With("NumLockEnabled", false).With("StartupOrder", new List<object> { "CD", "IDE", "LegacyNetworkAdapter", "Floppy" });
                settings["FloppyDrive"] = Part(id, "Floppy", "Diskette Drive").With("Path", "");
                settings.Items("DVDDrives").Add(Drive(id, "DVDDrives", "IDE", 1, 0, ""));
            }
            else
            {
                settings["Firmware"] = new Node().With("SecureBoot", "On").With("SecureBootTemplate", "MicrosoftWindows")
                    .With("SecureBootTemplateId", Boot.Templates["MicrosoftWindows"]).With("PreferredNetworkBootProtocol", "IPv4")
                    .With("ConsoleMode", "Default").With("PauseAfterBootFailure", "Off");
                settings["Security"] = new Node();
                settings.Items("ScsiControllers").Add(Controller(id, 0));
            }
            return new Node().With("Id", id.ToString()).With("Name", name).With("Created", Clock.Now).With("State", "Off")
                .With("StateSince", Clock.Now).With("Settings", settings);
        }

        public static Node Part(Guid machine, string kind, string name)
        {
            return new Node().With("Name", name).With("Id", "Microsoft:" + machine.ToString().ToUpperInvariant() + "\\" + Guid.NewGuid() + "\\" + kind);
        }

        public static Node Controller(Guid machine, int number)
        {
            return Part(machine, number.ToString(), "SCSI Controller").With("ControllerNumber", number);
        }

        public static Node Drive(Guid machine, string list, string type, long number, long location, string path)
        {
            string name = Texts.Host(list == "HardDrives" ? "hard_drive" : "dvd_drive") + " on " + type + " controller number " + number + " at location " + location;
            return Part(machine, "D", name).With("ControllerType", type).With("ControllerNumber", number).With("ControllerLocation", location).With("Path", path);
        }

        public static Node Adapter(Guid machine, string name, Node link)
        {
            Node adapter = Part(machine, "N", name).With("MacAddress", "000000000000").With("DynamicMacAddressEnabled", true).With("PoolName", "");
            Connect(adapter, link);
            return adapter;
        }

        public static void Connect(Node adapter, Node link)
        {
            adapter["SwitchId"] = link == null ? null : link.Get("Id");
            adapter["LastSwitchName"] = "";
        }

        private static Node ComPort(Guid machine, int number)
        {
            return Part(machine, number.ToString(), "COM " + number).With("Number", number).With("Path", "").With("DebuggerMode", "Off");
        }

        private static List<object> Services(Guid machine)
        {
            List<object> services = new List<object>();
            for (int at = 0; at < ServiceNames.Length; at++)
            {
                string id = "Microsoft:" + machine.ToString().ToUpperInvariant() + "\\" + ServiceIds[at];
                services.Add(new Node().With("Key", ServiceNames[at]).With("Enabled", at > 0).With("Id", id));
            }
            return services;
        }

        /// <summary>Gives parts of a copied machine the ids of the new one.</summary>
        public static Node Rename(Node settings, Guid from, Guid to)
        {
            return (Node)Json.Parse(Json.Write(settings).Replace(from.ToString().ToUpperInvariant(), to.ToString().ToUpperInvariant()));
        }
    }
}
