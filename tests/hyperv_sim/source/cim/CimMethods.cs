using System;
using System.Collections;
using System.Collections.Generic;
using System.Management.Automation;
using Microsoft.HyperV.PowerShell;

namespace HvlabSimulation
{
    /// <summary>Methods of the virtualization namespace. They never throw for a refusal: the failure is the ReturnValue.</summary>
    internal static class CimMethods
    {
        private const uint Done = 0;
        private const uint JobStarted = 4096;
        private const uint Failed = 32768;
        private const uint InvalidParameter = 32773;
        private const uint InvalidState = 32775;

        /// <summary>The out parameters with ReturnValue; null for a method that is not simulated.</summary>
        public static Node Invoke(string className, string method, PSObject instance, Node arguments)
        {
            string key = (className + "." + method).ToLowerInvariant();
            if (key == "msvm_virtualsystemmanagementservice.getvirtualsystemthumbnailimage") return Thumbnail.Take(arguments);
            if (key.StartsWith("msvm_virtualsystemmanagementservice.", StringComparison.Ordinal)) return Service(method.ToLowerInvariant(), arguments);
            string system = CimRecord.SystemOf(instance);
            Node machine = system.Length == 0 ? null : World.Current.Document(Machine.DocumentOf(new Guid(system)));
            if (machine == null || !machine.Has("Id")) throw Refusal.NotFound("Not found");
            switch (className.ToLowerInvariant())
            {
                case "msvm_keyboard": return Keyboard(machine, method, arguments);
                case "msvm_syntheticmouse": return Mouse(machine, method, arguments, "isDown", Machine.GuestAnswers(machine));
                case "msvm_ps2mouse": return Mouse(machine, method, arguments, "buttonState", true);
                case "msvm_computersystem": return method.ToLowerInvariant() == "requeststatechange" ? ChangeState(machine, arguments) : null;
                case "msvm_shutdowncomponent": return method.ToLowerInvariant() == "initiateshutdown" ? ShutDown(machine) : null;
                default: return null;
            }
        }

        public static Node Returned(uint value) { return new Node().With("ReturnValue", value); }

        private static Node Keyboard(Node machine, string method, Node arguments)
        {
            if (!Machine.Runs(machine)) return Returned(InvalidState);
            switch (method.ToLowerInvariant())
            {
                case "typetext":
                    if (arguments.Text("asciiText").Length > 512) return Returned(InvalidParameter);
                    return Record(machine, "text", arguments.Text("asciiText"));
                case "typekey": return Record(machine, "key", arguments.Get("keyCode"));
                case "presskey": return Record(machine, "press", arguments.Get("keyCode"));
                case "releasekey": return Record(machine, "release", arguments.Get("keyCode"));
                case "typectrlaltdel": return Record(machine, "ctrl_alt_del", null);
                case "typescancodes":
                    List<object> codes = new List<object>();
                    foreach (object code in (IEnumerable)arguments.Get("Scancodes")) codes.Add(Convert.ToInt64(code is PSObject ? ((PSObject)code).BaseObject : code));
                    return Record(machine, "scancodes", codes);
                case "iskeypressed": return Returned(Done).With("KeyState", IsPressed(machine, arguments.Number("keyCode")));
                default: return null;
            }
        }

        private static bool IsPressed(Node machine, long key)
        {
            bool pressed = false;
            foreach (Node item in machine.Nodes("Console"))
            {
                if (item.Text("Kind") == "press" && item.Number("Value") == key) pressed = true;
                if (item.Text("Kind") == "release" && item.Number("Value") == key) pressed = false;
            }
            return pressed;
        }

        // Without a driver in the guest the synthetic mouse can do nothing; the old one is the hardware that every system knows.
        private static Node Mouse(Node machine, string method, Node arguments, string flag, bool driver)
        {
            if (!Machine.Runs(machine)) return Returned(InvalidState);
            switch (method.ToLowerInvariant())
            {
                case "setabsoluteposition":
                    if (flag != "isDown") return null;
                    return driver ? Record(machine, "move", new List<object> { arguments.Number("horizontalPosition"), arguments.Number("verticalPosition") }) : Returned(Failed);
                case "setrelativeposition":
                    if (flag != "buttonState") return null;
                    return Record(machine, "nudge", new List<object> { arguments.Number("horizontalDelta"), arguments.Number("verticalDelta") });
                case "clickbutton": return driver ? Record(machine, "click", arguments.Number("buttonIndex")) : Returned(Failed);
                case "setbuttonstate": return driver ? Record(machine, "button", new List<object> { arguments.Number("buttonIndex"), arguments.Flag(flag) }) : Returned(Failed);
                case "setscrollposition": return driver ? Record(machine, "scroll", arguments.Number("scrollPositionDelta")) : Returned(Failed);
                case "getbuttonstate": return Returned(Done).With("IsDown", false);
                default: return null;
            }
        }

        private static Node Record(Node machine, string kind, object value)
        {
            World.Current.Change(delegate(WorldChange change)
            {
                Node item = new Node().With("Kind", kind).With("Value", value is PSObject ? ((PSObject)value).BaseObject : value).With("Time", Clock.Now);
                change.Edit(Machine.DocumentOf(machine.Id("Id"))).Items("Console").Add(item);
                CallLog.Effect(change, "console " + kind, machine.Text("Id"));
            });
            return Returned(Done);
        }

        private static Node ChangeState(Node machine, Node arguments)
        {
            string state = Machine.State(machine);
            string wanted;
            switch (arguments.Number("RequestedState"))
            {
                case 2: wanted = "Running"; break;
                case 3: wanted = "Off"; break;
                case 6: wanted = "Saved"; break;
                case 9: wanted = "Paused"; break;
                case 11: wanted = "Running"; break;
                default: return Returned(InvalidParameter);
            }
            if (state == wanted && arguments.Number("RequestedState") != 11) return Returned(InvalidState);
            double seconds = Faults.Duration("RequestStateChange", machine);
            bool fails = Faults.Settings.Flag("wmi_jobs_fail");
            Node job = new Node().With("Status", wanted).With("Started", Clock.Now).With("Until", Clock.After(seconds))
                .With("ErrorCode", fails ? 32768L : 0L).With("Vanishes", Faults.Settings.Flag("wmi_jobs_vanish"));
            World.Current.Change(delegate(WorldChange change)
            {
                Node node = change.Edit(Machine.DocumentOf(machine.Id("Id")));
                node["Job"] = job;
                if (fails) return;
                if (wanted == "Running") node["BootedAt"] = Clock.Now;
                Machine.Enter(node, wanted, wanted == "Running" ? "Starting" : wanted == "Off" ? "Stopping" : wanted == "Saved" ? "Saving" : "Pausing", seconds);
                CallLog.Effect(change, "RequestStateChange", machine.Text("Id"));
            });
            return Returned(JobStarted).With("Job", CimJobs.ToRecord(machine, job));
        }

        private static Node ShutDown(Node machine)
        {
            if (!Power.CanShutDown(machine)) return Returned(InvalidState);
            double seconds = Machine.ShutdownSeconds(machine);
            // The guest was asked, which is all that this method promises.
            if (double.IsInfinity(seconds)) return Returned(Done);
            World.Current.Change(delegate(WorldChange change)
            {
                Node node = change.Edit(Machine.DocumentOf(machine.Id("Id")));
                GuestProcesses.End(node);
                Machine.Enter(node, "Off", "Stopping", seconds);
                CallLog.Effect(change, "InitiateShutdown", machine.Text("Id"));
            });
            return Returned(Done);
        }

        // Only planned machines are simulated as something to destroy.
        private static uint Destroy(object system)
        {
            PSObject wrapped = system as PSObject;
            if (wrapped == null || CimRecord.ClassOf(wrapped) != "Msvm_PlannedComputerSystem") return InvalidParameter;
            World.Current.Change(delegate(WorldChange change) { PlannedMachines.Remove(change, new Guid(CimRecord.SystemOf(wrapped))); });
            return Done;
        }

        private static Node Service(string method, Node arguments)
        {
            if (method == "destroysystem") return Returned(Destroy(arguments.Get("AffectedSystem")));
            if (method != "getsummaryinformation") return null;
            List<object> rows = new List<object>();
            foreach (Node machine in Machine.All())
            {
                Node row = new Node().With("Name", CimClasses.IdOf(machine)).With("ElementName", machine.Text("Name")).With("EnabledState", (ushort)CimClasses.EnabledState(Machine.State(machine)))
                    .With("NumberOfProcessors", (ushort)machine.Child("Settings").Child("Processor").Number("Count")).With("UpTime", (ulong)0)
                    .With("Heartbeat", (ushort)(Machine.GuestAnswers(machine) ? 2 : 12)).With("HealthState", (ushort)5);
                rows.Add(CimClasses.Record("Msvm_SummaryInformation", CimClasses.IdOf(machine), CimClasses.IdOf(machine), row).ToObject());
            }
            return Returned(Done).With("SummaryInformation", rows.ToArray());
        }
    }

    /// <summary>Pictures of a machine's screen: RGB565, little-endian, top down, after four bytes with the whole length.</summary>
    internal static class Thumbnail
    {
        private const int PrefixBytes = 4;
        private const int CharacterWidth = 8;
        private const int LineHeight = 16;

        public static Node Take(Node arguments)
        {
            PSObject setting = arguments.Get("TargetSystem") as PSObject;
            string text = setting == null ? arguments.Text("TargetSystem") : CimRecord.ClassOf(setting);
            int width = (int)arguments.Number("WidthPixels");
            int height = (int)arguments.Number("HeightPixels");
            string system = CimRecord.SystemOf(arguments.Get("TargetSystem"));
            if (system.Length == 0 || text.IndexOf("Msvm_VirtualSystemSettingData", StringComparison.OrdinalIgnoreCase) < 0) return CimMethods.Returned(32773);
            Node machine = World.Current.Document(Machine.DocumentOf(new Guid(system)));
            Node video = machine.Child("Settings").Clone().Child("Video");
            int screenWidth = (int)video.Number("HorizontalResolution", 1024);
            int screenHeight = (int)video.Number("VerticalResolution", 768);
            bool tooLarge = width > screenWidth && height > screenHeight;
            if (!Machine.Runs(machine) || width <= 0 || height <= 0 || tooLarge) return CimMethods.Returned(32775);
            return CimMethods.Returned(0).With("ImageData", Draw(machine, width, height, screenWidth, screenHeight));
        }

        // A blue screen with a bar for each typed character, a green line once the guest answers, red when it crashed.
        private static byte[] Draw(Node machine, int width, int height, int screenWidth, int screenHeight)
        {
            byte[] bytes = new byte[PrefixBytes + width * height * 2];
            for (int at = 0; at < PrefixBytes; at++) bytes[at] = (byte)(bytes.Length >> (8 * (PrefixBytes - 1 - at)));
            string typed = "";
            foreach (Node item in machine.Nodes("Console")) typed += item.Text("Kind") == "text" ? item.Text("Value") : "#";
            bool answers = Machine.GuestAnswers(machine);
            bool crashed = Equals(Machine.Guest(machine, "Crashed"), true);
            for (int row = 0; row < height; row++)
            {
                int y = row * screenHeight / height;
                for (int column = 0; column < width; column++)
                {
                    int x = column * screenWidth / width;
                    ushort pixel = crashed ? (ushort)0xF800 : (ushort)0x0010;
                    if (answers && y < LineHeight) pixel = 0x07E0;
                    int cell = (y / LineHeight - 2) * (screenWidth / CharacterWidth) + x / CharacterWidth;
                    if (y >= 2 * LineHeight && cell < typed.Length && x % CharacterWidth < 6 && y % LineHeight < 12) pixel = (ushort)(0xFFFF - typed[cell] * 37);
                    int at = PrefixBytes + (row * width + column) * 2;
                    bytes[at] = (byte)pixel;
                    bytes[at + 1] = (byte)(pixel >> 8);
                }
            }
            return bytes;
        }
    }
}
