using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace HvlabSimulation
{
    /// <summary>Reads and writes JSON. Both editions of PowerShell lack a common library for it.</summary>
    internal static class Json
    {
        /// <summary>Parses one value. Throws FormatException with the offset of the first fault.</summary>
        public static object Parse(string text)
        {
            Reader reader = new Reader(text);
            object value = reader.ReadValue();
            reader.ExpectEnd();
            return value;
        }

        public static string Write(object value)
        {
            StringBuilder text = new StringBuilder();
            WriteValue(text, value);
            return text.ToString();
        }

        private static void WriteValue(StringBuilder text, object value)
        {
            if (value == null) { text.Append("null"); return; }
            if (value is string || value is Guid || value is Enum) { WriteText(text, value.ToString()); return; }
            if (value is bool) { text.Append((bool)value ? "true" : "false"); return; }
            IDictionary members = value as IDictionary;
            if (members != null)
            {
                string separator = "{";
                foreach (DictionaryEntry member in members)
                {
                    text.Append(separator);
                    WriteText(text, member.Key.ToString());
                    text.Append(':');
                    WriteValue(text, member.Value);
                    separator = ",";
                }
                text.Append(separator == "{" ? "{}" : "}");
                return;
            }
            IEnumerable items = value as IEnumerable;
            if (items != null)
            {
                string separator = "[";
                foreach (object item in items)
                {
                    text.Append(separator);
                    WriteValue(text, item);
                    separator = ",";
                }
                text.Append(separator == "[" ? "[]" : "]");
                return;
            }
            text.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
        }

        private static void WriteText(StringBuilder text, string value)
        {
            text.Append('"');
            foreach (char letter in value)
            {
                if (letter == '"' || letter == '\\') text.Append('\\').Append(letter);
                else if (letter < ' ' || letter > '~') text.Append("\\u").Append(((int)letter).ToString("x4"));
                else text.Append(letter);
            }
            text.Append('"');
        }

        private sealed class Reader
        {
            private readonly string text;
            private int offset;

            public Reader(string text)
            {
                this.text = text;
                if (text.Length > 0 && text[0] == '\uFEFF') offset = 1;
            }

            public object ReadValue()
            {
                SkipBlanks();
                char letter = Peek();
                if (letter == '{') return ReadObject();
                if (letter == '[') return ReadList();
                if (letter == '"') return ReadText();
                return ReadWord();
            }

            public void ExpectEnd()
            {
                SkipBlanks();
                if (offset < text.Length) throw Fault("end of text");
            }

            private Node ReadObject()
            {
                Node node = new Node();
                offset++;
                SkipBlanks();
                if (Take('}')) return node;
                do
                {
                    SkipBlanks();
                    string key = ReadText();
                    SkipBlanks();
                    if (!Take(':')) throw Fault("':'");
                    node[key] = ReadValue();
                    SkipBlanks();
                } while (Take(','));
                if (!Take('}')) throw Fault("'}'");
                return node;
            }

            private List<object> ReadList()
            {
                List<object> items = new List<object>();
                offset++;
                SkipBlanks();
                if (Take(']')) return items;
                do
                {
                    items.Add(ReadValue());
                    SkipBlanks();
                } while (Take(','));
                if (!Take(']')) throw Fault("']'");
                return items;
            }

            private string ReadText()
            {
                if (!Take('"')) throw Fault("a string");
                StringBuilder value = new StringBuilder();
                while (true)
                {
                    char letter = Peek();
                    offset++;
                    if (letter == '"') return value.ToString();
                    value.Append(letter == '\\' ? ReadEscape() : letter);
                }
            }

            private char ReadEscape()
            {
                char letter = Peek();
                offset++;
                switch (letter)
                {
                    case 'n': return '\n';
                    case 'r': return '\r';
                    case 't': return '\t';
                    case 'b': return '\b';
                    case 'f': return '\f';
                    case 'u':
                        if (offset + 4 > text.Length) throw Fault("four hexadecimal digits");
                        offset += 4;
                        return (char)int.Parse(text.Substring(offset - 4, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
                    default: return letter;
                }
            }

            private object ReadWord()
            {
                int start = offset;
                while (offset < text.Length && ",]} \t\r\n".IndexOf(text[offset]) < 0) offset++;
                string word = text.Substring(start, offset - start);
                if (word == "null") return null;
                if (word == "true") return true;
                if (word == "false") return false;
                long whole;
                if (long.TryParse(word, NumberStyles.Integer, CultureInfo.InvariantCulture, out whole)) return whole;
                ulong large;
                if (ulong.TryParse(word, NumberStyles.Integer, CultureInfo.InvariantCulture, out large)) return large;
                double real;
                if (double.TryParse(word, NumberStyles.Float, CultureInfo.InvariantCulture, out real)) return real;
                offset = start;
                throw Fault("a value");
            }

            private void SkipBlanks()
            {
                while (offset < text.Length && " \t\r\n".IndexOf(text[offset]) >= 0) offset++;
            }

            private bool Take(char letter)
            {
                if (offset >= text.Length || text[offset] != letter) return false;
                offset++;
                return true;
            }

            private char Peek()
            {
                if (offset >= text.Length) throw Fault("more text");
                return text[offset];
            }

            private FormatException Fault(string wanted)
            {
                return new FormatException("JSON: wanted " + wanted + " at offset " + offset);
            }
        }
    }
}
