using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;

namespace HvlabSimulation
{
    /// <summary>Turns what the JSON documents hold into the types of the published members.</summary>
    internal static class Values
    {
        public static T To<T>(object value)
        {
            if (value is T) return (T)value;
            object converted = Convert(value, typeof(T));
            return converted == null ? default(T) : (T)converted;
        }

        private static object Convert(object value, Type type)
        {
            Type inner = Nullable.GetUnderlyingType(type);
            if (inner != null) return value == null ? null : Convert(value, inner);
            if (type == typeof(string)) return value == null ? "" : System.Convert.ToString(value, CultureInfo.InvariantCulture);
            if (type.IsArray) return ToArray(value as IEnumerable, type.GetElementType());
            if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(List<>)) return ToList(value as IEnumerable, type);
            if (value == null) return null;
            if (type.IsInstanceOfType(value)) return value;
            if (type.IsEnum) return value is string ? Enum.Parse(type, (string)value, true) : Enum.ToObject(type, value);
            if (type == typeof(Guid)) return new Guid(value.ToString());
            if (type == typeof(Version)) return new Version(value.ToString());
            if (type == typeof(TimeSpan)) return TimeSpan.FromTicks(System.Convert.ToInt64(value, CultureInfo.InvariantCulture));
            if (type == typeof(DateTime)) return new DateTime(System.Convert.ToInt64(value, CultureInfo.InvariantCulture), DateTimeKind.Utc).ToLocalTime();
            return System.Convert.ChangeType(value, type, CultureInfo.InvariantCulture);
        }

        private static object ToArray(IEnumerable items, Type element)
        {
            ArrayList list = new ArrayList();
            if (items != null) foreach (object item in items) list.Add(Convert(item, element));
            return list.ToArray(element);
        }

        private static object ToList(IEnumerable items, Type type)
        {
            IList list = (IList)Activator.CreateInstance(type);
            if (items != null) foreach (object item in items) list.Add(Convert(item, type.GetGenericArguments()[0]));
            return list;
        }
    }

    /// <summary>Times of the world: UTC ticks, so that every process agrees.</summary>
    internal static class Clock
    {
        public static long Now { get { return DateTime.UtcNow.Ticks; } }

        public static long After(double seconds) { return Now + (long)(seconds * TimeSpan.TicksPerSecond); }

        public static double SecondsSince(long ticks) { return (Now - ticks) / (double)TimeSpan.TicksPerSecond; }
    }
}
