using System;
using System.Collections.Generic;
using System.Globalization;

namespace HvlabSimulation
{
    /// <summary>
    /// What follows from a machine's document and the clock: its state, what its guest has reached, what runs on it. Nothing
    /// moves by itself, so a machine goes on while no process looks.
    /// </summary>
    internal static class Machine
    {
        public static string DocumentOf(Guid id) { return "machines/" + id.ToString(); }

        public static List<Node> All()
        {
            World world = World.Current;
            List<Node> machines = new List<Node>();
            foreach (string name in world.Names("machines/")) machines.Add(world.Document(name));
            machines.Sort(delegate(Node left, Node right)
            {
                int order = string.Compare(left.Text("Name"), right.Text("Name"), StringComparison.OrdinalIgnoreCase);
                return order != 0 ? order : string.CompareOrdinal(left.Text("Id"), right.Text("Id"));
            });
            return machines;
        }

        /// <summary>The VMState name, a pending transition included.</summary>
        public static string State(Node machine)
        {
            Node pending = machine.Get("Pending") as Node;
            if (pending != null && Clock.Now >= pending.Number("At")) return pending.Text("State");
            string state = machine.Text("State");
            return state.Length == 0 ? "Off" : state;
        }

        /// <summary>Since when the machine is in its state.</summary>
        public static long StateSince(Node machine)
        {
            Node pending = machine.Get("Pending") as Node;
            if (pending != null && Clock.Now >= pending.Number("At")) return pending.Number("At");
            return machine.Number("StateSince");
        }

        public static bool Runs(Node machine) { return State(machine) == "Running"; }

        /// <summary>Puts the machine into a state; with seconds it shows `meanwhile` until then.</summary>
        public static void Enter(Node machine, string state, string meanwhile, double seconds)
        {
            machine.Remove("Pending");
            if (seconds <= 0)
            {
                machine["State"] = state;
                machine["StateSince"] = Clock.Now;
                return;
            }
            machine["State"] = meanwhile;
            machine["StateSince"] = Clock.Now;
            machine["Pending"] = new Node().With("State", state).With("At", Clock.After(seconds));
        }

        /// <summary>The member of a guest's description, the host's default where the machine has none.</summary>
        public static object Guest(Node machine, string key)
        {
            Node guest = machine.Get("Guest") as Node;
            if (guest != null && guest.Has(key)) return guest.Get(key);
            return World.Current.Document("host").Get("Guest" + key);
        }

        /// <summary>How long the guest takes to shut down; for ever when it ignores the request.</summary>
        public static double ShutdownSeconds(Node machine)
        {
            if (Equals(Guest(machine, "IgnoresShutdown"), true)) return double.PositiveInfinity;
            return Convert.ToDouble(Guest(machine, "ShutdownSeconds") ?? 0.05, CultureInfo.InvariantCulture);
        }

        public static string GuestOs(Node machine) { return Convert.ToString(Guest(machine, "Os"), CultureInfo.InvariantCulture); }

        /// <summary>True when a guest runs that answers the integration services.</summary>
        public static bool GuestAnswers(Node machine)
        {
            if (!Runs(machine) || GuestOs(machine) == "none" || Equals(Guest(machine, "Crashed"), true)) return false;
            double wait = Convert.ToDouble(Guest(machine, "BootSeconds") ?? 0.4, CultureInfo.InvariantCulture);
            return Clock.SecondsSince(BootedAt(machine)) >= wait;
        }

        // A machine that resumed or came back from a saved state does not boot.
        private static long BootedAt(Node machine)
        {
            long booted = machine.Number("BootedAt");
            Node pending = machine.Get("Pending") as Node;
            if (pending != null && Clock.Now >= pending.Number("At") && pending.Number("At") > booted && machine.Flag("Booting")) return pending.Number("At");
            return booted;
        }

        /// <summary>The VMHeartbeatStatus name; null when the machine is off.</summary>
        public static string Heartbeat(Node machine)
        {
            string state = State(machine);
            if (state == "Paused") return "Paused";
            if (state != "Running") return null;
            if (Equals(Guest(machine, "Crashed"), true)) return "LostCommunication";
            Node service = (machine.Get("Settings") as Node ?? new Node()).Find("Services", "Key", "Heartbeat");
            if (service != null && !service.Flag("Enabled")) return "Disabled";
            if (!GuestAnswers(machine)) return "NoContact";
            return GuestOs(machine) == "linux" ? "OkApplicationsUnknown" : "OkApplicationsHealthy";
        }

        /// <summary>What runs on the machine now (a VMOperationalStatus name), or null.</summary>
        public static Node Activity(Node machine)
        {
            Node activity = machine.Get("Activity") as Node;
            return activity != null && Clock.Now < activity.Number("Until") ? activity : null;
        }

        public static void Begin(Node machine, string status, string text, double seconds)
        {
            if (seconds <= 0) return;
            machine["Activity"] = new Node().With("Status", status).With("Text", text).With("Started", Clock.Now).With("Until", Clock.After(seconds));
        }

        /// <summary>Percent of the running activity that is done.</summary>
        public static int Percent(Node activity)
        {
            double all = activity.Number("Until") - activity.Number("Started");
            return all <= 0 ? 100 : Math.Max(0, Math.Min(99, (int)(100 * (Clock.Now - activity.Number("Started")) / all)));
        }

        /// <summary>Addresses that the guest reports for an adapter: none until it answers, none without a switch.</summary>
        public static List<object> Addresses(Node machine, Node adapter)
        {
            List<object> addresses = new List<object>();
            if (adapter.Text("SwitchId").Length == 0 || !GuestAnswers(machine)) return addresses;
            if (adapter.Has("Addresses")) return adapter.Items("Addresses");
            Node link = World.Current.Document("switches").Find("Switches", "Id", adapter.Text("SwitchId"));
            if (link == null) return addresses;
            int tail = 0;
            foreach (char letter in adapter.Text("MacAddress")) tail = (tail * 31 + letter) % 60000;
            if (link.Has("Subnet")) addresses.Add(link.Text("Subnet") + "." + (tail % 250 + 2).ToString(CultureInfo.InvariantCulture));
            else addresses.Add("169.254." + (tail / 250 % 250 + 1) + "." + (tail % 250 + 2));
            addresses.Add("fe80::215:5dff:fe" + (tail % 99 + 1).ToString("x2") + ":" + tail.ToString("x4"));
            return addresses;
        }
    }
}
