/*
 * A bcryptprimitives.dll for Wine 8, which has none. It lies beside deno.exe and does two things:
 *
 * - It gives the one function that deno.exe imports from it, random bytes, by way of the older RtlGenRandom.
 * - It makes deno.exe believe that three functions of newer Windows are absent. Wine 8 exports them without doing what
 *   V8 asks of them; without them V8 takes the way that it takes on older Windows. deno.exe finds them by
 *   GetProcAddress, so its import of that function is replaced by one that answers "not found" for the three.
 */

#include <string.h>
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length); /* RtlGenRandom */

static const char *const HIDDEN[] = {"VirtualAlloc2", "MapViewOfFile3", "UnmapViewOfFile2"};

static FARPROC(WINAPI *find_function)(HMODULE, LPCSTR);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
    while (length > 0) {
        ULONG part = length < 0x10000 ? (ULONG)length : 0x10000;
        if (!SystemFunction036(bytes, part)) return FALSE;
        bytes += part;
        length -= part;
    }
    return TRUE;
}

static FARPROC WINAPI find_visible_function(HMODULE module, LPCSTR name) {
    BOOL is_ordinal = (ULONG_PTR)name <= 0xFFFF;
    for (size_t i = 0; !is_ordinal && i < sizeof HIDDEN / sizeof *HIDDEN; i++) {
        if (strcmp(name, HIDDEN[i]) != 0) continue;
        SetLastError(ERROR_PROC_NOT_FOUND);
        return NULL;
    }
    return find_function(module, name);
}

/* Puts our function in the place of GetProcAddress in one imported library's table. */
static void replace_import(BYTE *image, IMAGE_IMPORT_DESCRIPTOR *library) {
    IMAGE_THUNK_DATA *names = (IMAGE_THUNK_DATA *)(image + library->OriginalFirstThunk);
    IMAGE_THUNK_DATA *entries = (IMAGE_THUNK_DATA *)(image + library->FirstThunk);
    for (; names->u1.AddressOfData != 0; names++, entries++) {
        if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal)) continue;
        IMAGE_IMPORT_BY_NAME *import = (IMAGE_IMPORT_BY_NAME *)(image + names->u1.AddressOfData);
        if (strcmp((const char *)import->Name, "GetProcAddress") != 0) continue;
        DWORD protection;
        if (!VirtualProtect(entries, sizeof *entries, PAGE_READWRITE, &protection)) return;
        find_function = (FARPROC(WINAPI *)(HMODULE, LPCSTR))entries->u1.Function;
        entries->u1.Function = (ULONG_PTR)find_visible_function;
        VirtualProtect(entries, sizeof *entries, protection, &protection);
    }
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved) {
    (void)self;
    (void)reserved;
    if (reason != DLL_PROCESS_ATTACH) return TRUE;
    BYTE *image = (BYTE *)GetModuleHandleW(NULL);
    IMAGE_NT_HEADERS *headers = (IMAGE_NT_HEADERS *)(image + ((IMAGE_DOS_HEADER *)image)->e_lfanew);
    DWORD imports = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
    if (imports == 0) return TRUE;
    for (IMAGE_IMPORT_DESCRIPTOR *library = (IMAGE_IMPORT_DESCRIPTOR *)(image + imports); library->Name != 0; library++) {
        replace_import(image, library);
    }
    return TRUE;
}
