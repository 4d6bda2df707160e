using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Management.Automation;
using System.Threading;

namespace HvlabSimulation
{
    /// <summary>The faults of `faults.json` in the world's folder, read at each call. README.md describes the file.</summary>
    internal static class Faults
    {
        private static readonly object Gate = new object();
        private static string readText;
        private static Node readNode = new Node();

        public static Node Settings
        {
            get
            {
                string path = World.Current.PathOf("faults.json");
                string text = File.Exists(path) ? World.ReadShared(path) : "";
                lock (Gate)
                {
                    if (text == readText) return readNode;
                    readText = text;
                    readNode = text.Trim().Length == 0 ? new Node() : (Node)Json.Parse(text);
                    return readNode;
                }
            }
        }

        /// <summary>Stops the call when the whole host is out of order or closed to this caller.</summary>
        public static void CheckHost(SimulatedCmdlet cmdlet)
        {
            Node faults = Settings;
            string host = World.Current.Document("host").Text("Name");
            foreach (string computer in cmdlet.List<string>("ComputerName"))
            {
                bool here = computer == "." || computer == "127.0.0.1" || string.Equals(computer, "localhost", StringComparison.OrdinalIgnoreCase) || string.Equals(computer, host, StringComparison.OrdinalIgnoreCase);
                if (!here) throw Refusal.NotFound(Texts.Host("object_gone", computer));
            }
            if (faults.Text("service") == "stopped") throw Refusal.NotFound(Texts.Host("object_gone", host));
            if (faults.Flag("null_server") && !cmdlet.Has("ComputerName") && !cmdlet.Has("CimSession") && !PassesObject(cmdlet))
            {
                throw Refusal.Unspecified(new ArgumentNullException("name").Message);
            }
            if (MayManage) return;
            if (faults.Text("permission") == "empty" && cmdlet.HidesWithoutPermission) return;
            throw Refusal.Unspecified(Texts.Host("no_permission", host));
        }

        /// <summary>True for administrators and Hyper-V administrators.</summary>
        public static bool MayManage
        {
            get
            {
                string permission = Settings.Text("permission");
                return permission.Length == 0 || permission == "full" || permission == "hyperv_administrator";
            }
        }

        /// <summary>True when the caller's rights hide every machine without an error.</summary>
        public static bool HidesMachines { get { return Settings.Text("permission") == "empty"; } }

        // An object carries its server, whichever kind it is.
        private static bool PassesObject(SimulatedCmdlet cmdlet)
        {
            foreach (string name in ObjectParameters) if (cmdlet.Has(name)) return true;
            return false;
        }

        private static readonly string[] ObjectParameters =
        {
            "VM", "VMSnapshot", "VMNetworkAdapter", "VMHardDiskDrive", "VMDvdDrive", "VMSwitch", "VMProcessor", "VMMemory", "VMFirmware", "VMComPort", "VMIntegrationService"
        };

        /// <summary>Writes what a noisy host writes during a call.</summary>
        public static void MakeNoise(SimulatedCmdlet cmdlet)
        {
            if (!Settings.Flag("noise")) return;
            Console.Out.WriteLine("{\"id\":1,\"ok\":true,\"result\":null}");
            Console.Out.Write("half a line without an end");
            Console.Out.Flush();
            Console.Error.WriteLine("#< CLIXML");
            Console.Error.Flush();
            cmdlet.Output.Warn("simulated noise: warning");
            cmdlet.WriteNoise();
        }

        /// <summary>Applies the rules that fit a call (machine null) or one machine of it, at `before`, `during` or `after`.</summary>
        public static void Apply(SimulatedCmdlet cmdlet, Node machine, string moment)
        {
            foreach (Node rule in Matching(cmdlet.CommandName, machine, moment))
            {
                if (Use(rule)) Carry(rule, cmdlet, machine);
            }
        }

        /// <summary>How long the host works on this call for this machine; the transitional state shows meanwhile.</summary>
        public static double Duration(string command, Node machine)
        {
            double seconds = 0;
            foreach (Node rule in Matching(command, machine, "work"))
            {
                if (Use(rule)) seconds += rule.Real("seconds", 1);
            }
            return seconds;
        }

        private static IEnumerable<Node> Matching(string command, Node machine, string moment)
        {
            foreach (Node rule in Settings.Nodes("rules"))
            {
                string wanted = rule.Has("cmdlet") ? rule.Text("cmdlet") : "*";
                if (!new WildcardPattern(wanted, WildcardOptions.IgnoreCase).IsMatch(command)) continue;
                string action = rule.Text("do");
                string ruleMoment = rule.Has("when") ? rule.Text("when") : action == "vanish" ? "after" : action == "work" ? "work" : "before";
                if (ruleMoment != moment) continue;
                bool perMachine = rule.Has("vm") || moment == "work" || moment == "during";
                if (perMachine != (machine != null)) continue;
                if (rule.Has("vm") && rule.Text("vm") != machine.Text("Name") && rule.Id("vm") != machine.Id("Id")) continue;
                yield return rule;
            }
        }

        // Counts a rule with `times` in the world, so that all processes share the count.
        private static bool Use(Node rule)
        {
            if (!rule.Has("times")) return true;
            string key = Json.Write(rule);
            bool use = false;
            World.Current.Change(delegate(WorldChange change)
            {
                Node used = change.Edit("faults_used");
                use = used.Number(key) < rule.Number("times");
                used[key] = used.Number(key) + 1;
            });
            return use;
        }

        private static void Carry(Node rule, SimulatedCmdlet cmdlet, Node machine)
        {
            switch (rule.Text("do"))
            {
                case "delay":
                    cmdlet.Wait(rule.Real("seconds", 1), "");
                    return;
                case "stuck":
                    // `deaf` ignores the pipeline's stop as well.
                    while (rule.Flag("deaf") || !cmdlet.Output.Stopped) Thread.Sleep(20);
                    throw new PipelineStoppedException();
                case "die":
                    Process.GetCurrentProcess().Kill();
                    Thread.Sleep(Timeout.Infinite);
                    return;
                case "vanish":
                    throw Refusal.NotFound(Texts.Host("object_gone", World.Current.Document("host").Text("Name")));
                case "fail_job":
                    cmdlet.Wait(rule.Real("seconds", 0), "");
                    throw Refusal.Failed(rule.Has("message") ? rule.Text("message") : Texts.Host("job_failed"));
                case "no_memory":
                    throw NoMemory(machine);
                default:
                    ErrorCategory category = ErrorCategory.NotSpecified;
                    if (rule.Has("category")) category = (ErrorCategory)Enum.Parse(typeof(ErrorCategory), rule.Text("category"));
                    throw new Refusal(rule.Has("id") ? rule.Text("id") : "Unspecified", category, rule.Has("message") ? rule.Text("message") : Texts.Host("failed"));
            }
        }

        private static Refusal NoMemory(Node machine)
        {
            string name = machine == null ? "" : machine.Text("Name");
            string id = machine == null ? "" : machine.Text("Id").ToUpperInvariant();
            long startup = machine == null ? 0 : machine.Child("Settings").Child("Memory").Number("Startup") / 1048576;
            string message = Texts.Host("start_failed", name) + "\n" + Texts.Host("no_memory", name) + "\n" +
                Texts.Host("start_failed_id", name, id) + "\n" + Texts.Host("no_memory_id", name, startup, id);
            return new Refusal("OutOfMemory", ErrorCategory.FromStdErr, message);
        }
    }
}
