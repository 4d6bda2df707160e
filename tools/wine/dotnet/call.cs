using System;
using System.ComponentModel;
using System.Reflection;
using System.Text;
using System.Text.Json;

/// <summary>
/// Calls static methods of a .NET assembly that is made elsewhere, under Wine. Arguments: its path, a class. Each line of the input
/// is a JSON list: a method and its texts. Each line of the output is {"result": ...}, or {"error": text, "number": Windows' own}.
/// </summary>
internal static class Call
{
    private static void Main(string[] args)
    {
        Console.InputEncoding = Console.OutputEncoding = new UTF8Encoding(false);
        Type type = Assembly.LoadFrom(args[0]).GetType(args[1], true);
        for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            string[] words = JsonSerializer.Deserialize<string[]>(line);
            Console.WriteLine(Answer(type.GetMethod(words[0]), words[1..]));
        }
    }

    private static string Answer(MethodInfo method, string[] words)
    {
        try
        {
            return JsonSerializer.Serialize(new { result = method.Invoke(null, words) });
        }
        catch (TargetInvocationException error)
        {
            Exception cause = error.InnerException;
            int number = cause is Win32Exception windows ? windows.NativeErrorCode : 0;
            return JsonSerializer.Serialize(new { error = cause.Message, number });
        }
    }
}
