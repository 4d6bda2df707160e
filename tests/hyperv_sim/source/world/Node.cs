using System;
using System.Collections.Generic;
using System.Globalization;

namespace HvlabSimulation
{
    /// <summary>One JSON object of the world. Keys are spelt as the published members that they feed.</summary>
    internal sealed class Node : Dictionary<string, object>
    {
        public Node() : base(StringComparer.OrdinalIgnoreCase) { }

        /// <summary>Adds one member and gives the node back, for building trees.</summary>
        public Node With(string key, object value)
        {
            this[key] = value;
            return this;
        }

        public bool Has(string key)
        {
            object value;
            return TryGetValue(key, out value) && value != null;
        }

        public object Get(string key)
        {
            object value;
            return TryGetValue(key, out value) ? value : null;
        }

        public string Text(string key)
        {
            object value = Get(key);
            return value == null ? "" : Convert.ToString(value, CultureInfo.InvariantCulture);
        }

        public long Number(string key) { return Number(key, 0); }

        public long Number(string key, long otherwise)
        {
            object value = Get(key);
            return value == null ? otherwise : Convert.ToInt64(value, CultureInfo.InvariantCulture);
        }

        public double Real(string key, double otherwise)
        {
            object value = Get(key);
            return value == null ? otherwise : Convert.ToDouble(value, CultureInfo.InvariantCulture);
        }

        public bool Flag(string key)
        {
            object value = Get(key);
            return value != null && Convert.ToBoolean(value, CultureInfo.InvariantCulture);
        }

        public Guid Id(string key)
        {
            Guid id;
            return Guid.TryParse(Text(key), out id) ? id : Guid.Empty;
        }

        /// <summary>A child object; an empty one is put there when it is missing.</summary>
        public Node Child(string key)
        {
            Node child = Get(key) as Node;
            if (child == null)
            {
                child = new Node();
                this[key] = child;
            }
            return child;
        }

        /// <summary>A child list; an empty one is put there when it is missing.</summary>
        public List<object> Items(string key)
        {
            List<object> items = Get(key) as List<object>;
            if (items == null)
            {
                items = new List<object>();
                this[key] = items;
            }
            return items;
        }

        /// <summary>The objects of a child list.</summary>
        public IEnumerable<Node> Nodes(string key)
        {
            List<object> items = Get(key) as List<object>;
            if (items == null) yield break;
            foreach (object item in items)
            {
                Node node = item as Node;
                if (node != null) yield return node;
            }
        }

        /// <summary>The first object of a child list whose member has this text, or null.</summary>
        public Node Find(string list, string key, string text)
        {
            foreach (Node node in Nodes(list))
            {
                if (string.Equals(node.Text(key), text, StringComparison.OrdinalIgnoreCase)) return node;
            }
            return null;
        }

        public Node Clone() { return (Node)CloneValue(this); }

        private static object CloneValue(object value)
        {
            Node node = value as Node;
            if (node != null)
            {
                Node copy = new Node();
                foreach (KeyValuePair<string, object> member in node) copy[member.Key] = CloneValue(member.Value);
                return copy;
            }
            List<object> list = value as List<object>;
            if (list == null) return value;
            List<object> items = new List<object>();
            foreach (object item in list) items.Add(CloneValue(item));
            return items;
        }
    }
}
