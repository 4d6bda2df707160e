using System;
using System.Diagnostics;
using System.Management.Automation.Runspaces;
using System.Reflection;
using System.Threading;

namespace HvlabSimulation
{
    /// <summary>
    /// Makes the loss of a guest as quick as that of a Hyper-V socket. A session to a child process whose process died waits a
    /// minute for the answer to its own close; a socket fails at once.
    /// </summary>
    internal static class BrokenPipe
    {
        private const BindingFlags Hidden = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public;
        private const int PauseMilliseconds = 100;
        private const int Attempts = 50;

        public static void Watch(Runspace runspace, Process process)
        {
            Thread thread = new Thread(delegate()
            {
                process.WaitForExit();
                for (int attempt = 0; attempt < Attempts && !IsOver(runspace); attempt++)
                {
                    Thread.Sleep(PauseMilliseconds);
                    GiveUpClose(runspace);
                }
            });
            thread.IsBackground = true;
            thread.Start();
        }

        private static bool IsOver(Runspace runspace)
        {
            RunspaceState state = runspace.RunspaceStateInfo.State;
            return state == RunspaceState.Broken || state == RunspaceState.Closed;
        }

        // Lets the transport's own time limit for a close pass now. Versions without these members wait the minute.
        private static void GiveUpClose(Runspace runspace)
        {
            object transport = Follow(runspace, "RunspacePool", "RemoteRunspacePoolInternal", "DataStructureHandler", "TransportManager");
            if (transport == null || !Equals(Read(transport, "isClosed"), true)) return;
            MethodInfo giveUp = Find(transport.GetType(), "OnCloseTimeOutTimerElapsed");
            if (giveUp != null) giveUp.Invoke(transport, new object[] { null });
        }

        private static object Follow(object start, params string[] names)
        {
            object at = start;
            foreach (string name in names)
            {
                if (at == null) return null;
                at = Read(at, name);
            }
            return at;
        }

        private static object Read(object holder, string name)
        {
            for (Type type = holder.GetType(); type != null; type = type.BaseType)
            {
                PropertyInfo property = type.GetProperty(name, Hidden | BindingFlags.DeclaredOnly);
                if (property != null) return property.GetValue(holder, null);
                FieldInfo field = type.GetField(name, Hidden | BindingFlags.DeclaredOnly);
                if (field != null) return field.GetValue(holder);
            }
            return null;
        }

        private static MethodInfo Find(Type type, string name)
        {
            for (; type != null; type = type.BaseType)
            {
                MethodInfo method = type.GetMethod(name, Hidden | BindingFlags.DeclaredOnly);
                if (method != null) return method;
            }
            return null;
        }
    }
}
