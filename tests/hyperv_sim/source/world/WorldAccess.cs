using System;

namespace HvlabSimulation
{
    /// <summary>The documents of the world for script modules, as JSON text.</summary>
    public static class WorldAccess
    {
        /// <summary>A document's text; `{}` when there is none.</summary>
        public static string Read(string name)
        {
            World.Current.Refresh();
            return Json.Write(World.Current.Document(name));
        }

        /// <summary>Replaces a document by what `change` makes of its text, alone among all processes.</summary>
        public static void Edit(string name, Func<string, string> change)
        {
            World.Current.Change(delegate(WorldChange edit)
            {
                Node changed = (Node)Json.Parse(change(Json.Write(edit.Edit(name))));
                edit.Put(name, changed);
                CallLog.Effect(edit, "document", name);
            });
        }
    }
}
