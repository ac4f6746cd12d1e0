# SPDX-License-Identifier: GPL-2.0
# For tests of what the compiler makes of a header of the kernel's: it is compiled
# with stand-ins for those that it includes.
package Header;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

use Files ();

our @EXPORT = qw(put compile code sections);

my $top = abs_path(dirname(__FILE__) . '/../../../..');
my $dir = tempdir(CLEANUP => 1);

# put PATH, TEXT: make a header
sub put { Files::put("$dir/$_[0]", $_[1]) }

put('linux/bits.h', <<'H');
#define BIT(n) (1u << (n))
#define GENMASK(h, l) ((BIT((h) + 1) - 1) & ~(BIT(l) - 1))
H
put('linux/build_bug.h', "#define BUILD_BUG_ON_MSG(c, msg) _Static_assert(!(c), msg)\n");
put('linux/compiler.h', <<'H');
#define __ADDRESSABLE(sym) static void *addressable_##sym __attribute__((used)) = (void *)&sym;
#define __aligned(x) __attribute__((aligned(x)))
#define __always_inline inline __attribute__((always_inline))
#define __printf(a, b) __attribute__((format(printf, a, b)))
#define __maybe_unused __attribute__((unused))
#define __read_mostly
#define __section(x) __attribute__((section(x)))
#define __used __attribute__((used))
#define __same_type(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
#define unlikely_notrace(x) __builtin_expect(!!(x), 0)
#ifdef CONFIG_TRACE_BRANCH_PROFILING
void ftrace_likely_update(int taken);
#define unlikely(x) ({ int taken = !!(x); ftrace_likely_update(taken); unlikely_notrace(taken); })
#else
#define unlikely(x) unlikely_notrace(x)
#endif
#define NULL ((void *)0)
/* No option is 1: what is asked for here is 32-bit code. */
#define IS_ENABLED(option) 0
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) do { *(volatile __typeof__(x) *)&(x) = (v); } while (0)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#ifdef __x86_64__
register unsigned long current_stack_pointer asm("rsp");
#endif
#define ASM_CALL_CONSTRAINT "+r" (current_stack_pointer)
H
put('linux/linkage.h', "#define asmlinkage\n");
put('linux/rbtree_latch.h', <<'H');
struct latch_tree_node { void *unused; };
struct latch_tree_root { void *unused; };
H
put('linux/rcupdate.h', "void synchronize_rcu(void);\nvoid synchronize_rcu_tasks(void);\n");
put('linux/stringify.h', "#define __stringify_1(x...) #x\n#define __stringify(x...) __stringify_1(x)\n");
put('linux/types.h', <<'H');
#include <stdbool.h>
typedef unsigned char u8;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long size_t;
H
put('asm/nops.h', "#define BYTES_NOP5 0x0f,0x1f,0x44,0x00,0x00\n");

# compile FLAGS, TEXT: as the kernel is; what gcc says of it, nothing if all is well
sub compile
{
	my ($flags, $text) = @_;
	put('test.c', $text);
	my $said = qx(LC_ALL=C gcc -std=gnu11 -O2 -Wall -Werror -fno-pic -mcmodel=kernel \\
		-mno-red-zone -mno-sse -mno-mmx -fcf-protection=none -fno-asynchronous-unwind-tables \\
		-mpreferred-stack-boundary=3 -fno-stack-protector -falign-loops=1 \\
		-falign-jumps=1 -falign-labels=1 $flags \\
		-I'$dir' -I'$top/include' -I'$top/arch/x86/include' \\
		-c -o '$dir/test.o' '$dir/test.c' 2>&1);
	return $? ? $said || 'it fails' : '';
}

# code FUNCTION: of what was compiled last the instructions up to the first return,
# each as "BYTES: TEXT"; of a long one the first seven bytes
sub code
{
	my ($function) = @_;
	my @code;
	for (qx(objdump -d --disassemble='$function' '$dir/test.o')) {
		next unless /^\s+[0-9a-f]+:\t([0-9a-f ]+?)\s*\t(.*?)\s*$/;
		push @code, "$1: $2";
		last if $2 =~ /^ret/;
	}
	return @code;
}

# sections: of what was compiled last, and their sizes
sub sections
{
	return map { /^\s+\d+ (\S+)\s+([0-9a-f]+)/ ? ($1 => hex $2) : () }
		qx(objdump -h '$dir/test.o');
}

1;
