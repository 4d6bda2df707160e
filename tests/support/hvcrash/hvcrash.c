// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Crashes a guest that exists to be crashed: insmod hvcrash.ko kind=KIND
 * Each kind fails in functions of its own, three calls deep, so that a stack can be told from another.
 */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *kind = "";
module_param(kind, charp, 0);
MODULE_PARM_DESC(kind, "null, wild, bug, divide (x86-64), overflow, panic, warn, spin, sleep or interrupt");

struct parcel {
	u64 weight;
	struct parcel *next;
	u64 contents[6];
};

/* Every function ends with work of its own, so that none becomes a jump into the next. */
static noinline int hvcrash_store(struct parcel *parcel, int value)
{
	WRITE_ONCE(parcel->contents[1], value);
	barrier();
	return value + 1;
}

static noinline int hvcrash_pack(struct parcel *parcel, int value)
{
	int stored = hvcrash_store(parcel, value * 3);

	barrier();
	return stored + 1;
}

static noinline int hvcrash_null(void)
{
	int packed = hvcrash_pack(NULL, 7);

	barrier();
	return packed;
}

/* An address that no processor has: what a use of freed memory leaves. */
static noinline int hvcrash_wild(void)
{
	int packed = hvcrash_pack((struct parcel *)0x6b6b6b6b6b6b6b6bul, 9);

	barrier();
	return packed;
}

static noinline int hvcrash_assert(int value)
{
	BUG_ON(value != 3);
	barrier();
	return value;
}

static noinline int hvcrash_bug(void)
{
	int asserted = hvcrash_assert(strlen(kind) + 1);

	barrier();
	return asserted;
}

#ifdef CONFIG_X86
static noinline int hvcrash_share(int among)
{
	int whole = 100;

	asm volatile("xorl %%edx, %%edx; idivl %1" : "+a"(whole) : "r"(among) : "edx", "cc");
	return whole;
}

static noinline int hvcrash_divide(void)
{
	int shared = hvcrash_share(0);

	barrier();
	return shared;
}
#endif

static noinline int hvcrash_deeper(int depth)
{
	volatile char room[256];

	room[depth & 255] = depth;
	room[0] += hvcrash_deeper(depth + 1);
	barrier();
	return room[0];
}

static noinline int hvcrash_overflow(void)
{
	int depth = hvcrash_deeper(1);

	barrier();
	return depth;
}

static noinline int hvcrash_give_up(void)
{
	panic("hvcrash gives up as asked");
	return 0;
}

static noinline int hvcrash_panic(void)
{
	int given = hvcrash_give_up();

	barrier();
	return given;
}

static noinline int hvcrash_complain(int value)
{
	WARN(value, "hvcrash complains %d", value);
	barrier();
	return value;
}

static noinline int hvcrash_warn(void)
{
	int complained = hvcrash_complain(5);

	barrier();
	return complained;
}

static noinline void hvcrash_turn(void)
{
	for (;;)
		cpu_relax();
}

static noinline int hvcrash_spin(void)
{
	preempt_disable();
	hvcrash_turn();
	preempt_enable();
	return 0;
}

static noinline int hvcrash_sleep(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
	barrier();
	return 0;
}

/* Runs where an interrupt has cut off the wait below, on the stack for interrupts. */
static void hvcrash_interrupted(struct irq_work *work)
{
	hvcrash_pack(NULL, 11);
	barrier();
}

static DEFINE_IRQ_WORK(hvcrash_work, hvcrash_interrupted);

static noinline int hvcrash_interrupt(void)
{
	irq_work_queue(&hvcrash_work);
	mdelay(1000);
	barrier();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} kinds[] = {
	{ "null", hvcrash_null },	  { "wild", hvcrash_wild },	{ "bug", hvcrash_bug },
	{ "overflow", hvcrash_overflow }, { "panic", hvcrash_panic },	{ "warn", hvcrash_warn },
	{ "spin", hvcrash_spin },	  { "sleep", hvcrash_sleep },	{ "interrupt", hvcrash_interrupt },
#ifdef CONFIG_X86
	{ "divide", hvcrash_divide },
#endif
};

static int __init hvcrash_init(void)
{
	size_t index;

	for (index = 0; index < ARRAY_SIZE(kinds); index++)
		if (!strcmp(kind, kinds[index].name))
			return kinds[index].run() ? 0 : -ECANCELED;
	return -EINVAL;
}

module_init(hvcrash_init);
MODULE_DESCRIPTION("Crashes a test guest");
MODULE_LICENSE("Dual MIT/GPL");
