# The boot sector of windows_guest.ts: loads the second stage and jumps to it.
        .code16
        .globl _start
_start: cli
        xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw %ax, %ss
        movw $0x7c00, %sp
        sti
        movw $packet, %si
        movb $0x42, %ah
        int $0x13
        jc stop
        ljmp $0, $0x8000
stop:   hlt
        jmp stop
packet: .byte 16, 0
        .word 8, 0x8000, 0
        .quad 1
