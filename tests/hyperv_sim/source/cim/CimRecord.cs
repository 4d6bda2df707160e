using System;
using System.Collections.Generic;
using System.Management.Automation;
using System.Text.RegularExpressions;

namespace HvlabSimulation
{
    /// <summary>
    /// One CIM instance. Real instance objects need a native library that Linux lacks, so the answer is a custom object with the
    /// type names of the real one.
    /// </summary>
    internal sealed class CimRecord
    {
        public const string VirtualizationNamespace = "root/virtualization/v2";

        public CimRecord(string cimNamespace, string className, string key, string system, Node node)
        {
            Namespace = cimNamespace;
            ClassName = className;
            Key = key;
            System = system;
            Node = node;
        }

        public string Namespace { get; private set; }
        public string ClassName { get; private set; }
        public string Key { get; private set; }

        /// <summary>The GUID of the machine that this belongs to, in upper case.</summary>
        public string System { get; private set; }

        public Node Node { get; private set; }

        public PSObject ToObject()
        {
            PSObject value = new PSObject();
            value.TypeNames.Insert(0, "Microsoft.Management.Infrastructure.CimInstance");
            value.TypeNames.Insert(0, "Microsoft.Management.Infrastructure.CimInstance#" + ClassName);
            value.TypeNames.Insert(0, "Microsoft.Management.Infrastructure.CimInstance#" + Namespace + "/" + ClassName);
            foreach (KeyValuePair<string, object> member in Node) value.Properties.Add(new PSNoteProperty(member.Key, ToArray(member.Value)));
            PSObject system = new PSObject();
            system.Properties.Add(new PSNoteProperty("Namespace", Namespace));
            system.Properties.Add(new PSNoteProperty("ServerName", World.Current.Document("host").Text("Name")));
            system.Properties.Add(new PSNoteProperty("ClassName", ClassName));
            system.Properties.Add(new PSNoteProperty("Path", Path));
            value.Properties.Add(new PSNoteProperty("CimSystemProperties", system));
            value.Properties.Add(new PSNoteProperty("PSComputerName", null));
            return value;
        }

        public string Path
        {
            get { return "\\\\" + World.Current.Document("host").Text("Name") + "\\" + Namespace.Replace('/', '\\') + ":" + ClassName + "=\"" + Key + "\""; }
        }

        private static object ToArray(object value)
        {
            List<object> list = value as List<object>;
            return list == null ? value : list.ToArray();
        }

        public static string ClassOf(PSObject value) { return SystemProperty(value, "ClassName"); }

        public static string NamespaceOf(PSObject value) { return SystemProperty(value, "Namespace"); }

        public static string KeyOf(PSObject value)
        {
            Match match = Regex.Match(SystemProperty(value, "Path"), "=\"(.*)\"$");
            return match.Groups[1].Value;
        }

        /// <summary>The machine's GUID in an instance or in a path text; empty when there is none.</summary>
        public static string SystemOf(object value)
        {
            PSObject wrapped = value as PSObject;
            string text = Convert.ToString(value);
            if (wrapped != null && wrapped.Properties["CimSystemProperties"] != null)
            {
                foreach (string name in new[] { "VirtualSystemIdentifier", "SystemName", "InstanceID", "Name" })
                {
                    if (wrapped.Properties[name] == null) continue;
                    text = Convert.ToString(wrapped.Properties[name].Value);
                    break;
                }
            }
            Match match = Regex.Match(text ?? "", "[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}");
            return match.Success ? match.Value.ToUpperInvariant() : "";
        }

        private static string SystemProperty(PSObject value, string name)
        {
            PSPropertyInfo system = value.Properties["CimSystemProperties"];
            if (system == null) return "";
            return Convert.ToString(PSObject.AsPSObject(system.Value).Properties[name].Value);
        }
    }

    /// <summary>The part of WQL that filters need: comparisons joined by and, or.</summary>
    internal static class Wql
    {
        private static readonly Regex Comparison = new Regex(@"^\s*\(?\s*(\w+)\s*(=|<>|!=|like|>=|<=|>|<)\s*('(?:\\.|[^'\\])*'|""(?:\\.|[^""\\])*""|[\w.-]+)\s*\)?\s*", RegexOptions.IgnoreCase);

        public static bool Fits(Node node, string filter)
        {
            string rest = filter;
            bool result = true;
            string joint = "and";
            while (rest.Length > 0)
            {
                Match match = Comparison.Match(rest);
                if (!match.Success) throw new FormatException("WQL: cannot read '" + rest + "'");
                bool fits = Compare(node.Text(match.Groups[1].Value), match.Groups[2].Value.ToLowerInvariant(), Unquote(match.Groups[3].Value));
                result = joint == "and" ? result && fits : result || fits;
                rest = rest.Substring(match.Length);
                Match next = Regex.Match(rest, @"^(and|or)\b", RegexOptions.IgnoreCase);
                if (!next.Success) break;
                joint = next.Value.ToLowerInvariant();
                rest = rest.Substring(next.Length);
            }
            return result;
        }

        private static string Unquote(string text)
        {
            if (text[0] != '\'' && text[0] != '"') return text;
            return Regex.Replace(text.Substring(1, text.Length - 2), @"\\(.)", "$1");
        }

        private static bool Compare(string have, string sign, string want)
        {
            if (sign == "like") return new WildcardPattern(want.Replace("%", "*").Replace("_", "?"), WildcardOptions.IgnoreCase).IsMatch(have);
            bool same = string.Equals(have, want, StringComparison.OrdinalIgnoreCase);
            if (sign == "=") return same;
            if (sign == "<>" || sign == "!=") return !same;
            double left, right;
            if (!double.TryParse(have, out left) || !double.TryParse(want, out right)) return false;
            return sign == ">" ? left > right : sign == "<" ? left < right : sign == ">=" ? left >= right : left <= right;
        }
    }
}
