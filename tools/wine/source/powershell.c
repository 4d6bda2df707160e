/*
 * A powershell.exe that hands its arguments and its three streams to a program of the Linux host under Wine.
 *
 * Wine can start a Linux program, but a pipe of a Windows process has no descriptor on the Linux side and the exit code does
 * not come back. Sockets have one. So this program listens on a loopback port and starts a Linux program, the bridge, which dials
 * back three times: for stdin and stdout, for stderr, and for the exit code as decimal digits.
 *
 * HVLAB_WINE_BRIDGE holds the command line that starts the bridge, a Linux program by its path on drive Z; the port and our own
 * arguments are appended. Exit codes of its own: 97 no bridge named, 98 no port, 99 the bridge does not start or ends without an exit code.
 */

#include <winsock2.h>
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

enum { BUFFER_BYTES = 65536, COMMAND_UNITS = 32768, NO_BRIDGE = 97, NO_PORT = 98, BRIDGE_LOST = 99 };

struct stream {
    SOCKET socket;
    HANDLE handle;
};

static DWORD WINAPI send_input(void *argument) {
    static char buffer[BUFFER_BYTES];
    struct stream *input = argument;
    DWORD count;
    while (ReadFile(input->handle, buffer, sizeof buffer, &count, NULL) && count > 0) {
        for (DWORD sent = 0; sent < count;) {
            int part = send(input->socket, buffer + sent, (int)(count - sent), 0);
            if (part <= 0) return 0;
            sent += (DWORD)part;
        }
    }
    shutdown(input->socket, SD_SEND);
    return 0;
}

static DWORD WINAPI write_output(void *argument) {
    struct stream *output = argument;
    char *buffer = malloc(BUFFER_BYTES);
    int count;
    while (buffer != NULL && (count = recv(output->socket, buffer, BUFFER_BYTES, 0)) > 0) {
        for (DWORD offset = 0, written; offset < (DWORD)count; offset += written) {
            if (!WriteFile(output->handle, buffer + offset, (DWORD)count - offset, &written, NULL)) exit(BRIDGE_LOST);
        }
    }
    free(buffer);
    return 0;
}

static SOCKET listen_on_loopback(unsigned short *port) {
    struct sockaddr_in address = {0};
    int length = sizeof address;
    SOCKET listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener == INVALID_SOCKET || bind(listener, (struct sockaddr *)&address, length) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 || listen(listener, 3) != 0) {
        return INVALID_SOCKET;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

/* What follows the program's own name in our command line, with the space before it. */
static const wchar_t *own_arguments(void) {
    const wchar_t *rest = GetCommandLineW();
    if (*rest == L'"') {
        rest = wcschr(rest + 1, L'"');
        return rest == NULL ? L"" : rest + 1;
    }
    while (*rest != 0 && *rest != L' ') rest++;
    return rest;
}

int wmain(void) {
    static wchar_t command[COMMAND_UNITS];
    WSADATA winsock;
    unsigned short port = 0;
    const wchar_t *bridge = _wgetenv(L"HVLAB_WINE_BRIDGE");
    if (bridge == NULL) return NO_BRIDGE;
    if (WSAStartup(MAKEWORD(2, 2), &winsock) != 0) return NO_PORT;
    SOCKET listener = listen_on_loopback(&port);
    if (listener == INVALID_SOCKET) return NO_PORT;

    if (swprintf(command, COMMAND_UNITS, L"%ls %d%ls", bridge, port, own_arguments()) < 0) return BRIDGE_LOST;
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION process;
    if (!CreateProcessW(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process)) return BRIDGE_LOST;

    SOCKET both = accept(listener, NULL, NULL);
    SOCKET errors = accept(listener, NULL, NULL);
    SOCKET outcome = accept(listener, NULL, NULL);
    struct stream input = {both, GetStdHandle(STD_INPUT_HANDLE)};
    struct stream output = {both, GetStdHandle(STD_OUTPUT_HANDLE)};
    struct stream error_output = {errors, GetStdHandle(STD_ERROR_HANDLE)};
    CreateThread(NULL, 0, send_input, &input, 0, NULL);
    HANDLE writing_errors = CreateThread(NULL, 0, write_output, &error_output, 0, NULL);
    write_output(&output);
    WaitForSingleObject(writing_errors, INFINITE);

    char digits[16] = {0};
    return recv(outcome, digits, sizeof digits - 1, 0) > 0 ? atoi(digits) : BRIDGE_LOST;
}
