# Text sites: a function tracing engine for the Linux kernel, laid over
# Debian's kernel source. The work is done by tools/testing/text_sites/.

# What `make menuconfig` has kept; a variable that is set wins.
-include .config
chosen = $(subst ",,$(CONFIG_$(1)))

# The kind of kernel that was chosen is one of the architecture that was chosen.
CHOSEN_ARCH := $(or $(call chosen,ARCH),x86_64)
VARIANT ?= $(if $(filter-out $(CHOSEN_ARCH),$(ARCH)),,$(call chosen,VARIANT))
ENGINE  ?= $(call chosen,ENGINE)
FRAGMENT ?= $(call chosen,FRAGMENT)
SMP     ?= $(or $(call chosen,SMP),2)
ACCEL   ?= $(or $(call chosen,ACCEL),single)
CPU     ?= $(or $(call chosen,CPU),max)
FILTER  ?= vfs_*
CMD     ?= ls -R /proc/1
JOBS    ?= $(shell nproc)
V       ?= 0
MACHINES ?= all
ROWS    ?= all
FILES   ?=
BASE    ?=
NUMBERS ?= all
ONLY    ?= all
SLOW    ?= 1
AGAIN   ?=
DBG     ?= 0
PICTURE ?= 0

# As they were typed: a $ in FILTER or CMD is not for make.
override FILTER := $(value FILTER)
override CMD    := $(value CMD)
export ENGINE VARIANT FRAGMENT SMP ACCEL CPU FILTER CMD JOBS V MACHINES ROWS FILES BASE NUMBERS ONLY SLOW AGAIN DBG PICTURE

# Another architecture is a kind of kernel. The build finds ARCH out from that.
ifneq ($(filter-out x86_64 i386,$(ARCH)),)
$(error ARCH is x86_64 or i386, not '$(ARCH)')
endif
ifeq ($(ARCH),i386)
VARIANT := $(or $(VARIANT),i386)
endif
VARIANT_ARCH := $(or $(if $(VARIANT),$(shell sed -n 's/^\# arch: //p' \
	'tools/testing/text_sites/config/variant-$(VARIANT).config' 2>/dev/null)),x86_64)
ifneq ($(filter-out $(VARIANT_ARCH),$(ARCH)),)
$(error VARIANT=$(VARIANT) is for $(VARIANT_ARCH), ARCH is $(ARCH))
endif
SOURCE_TESTS = series check test-host
ifneq ($(VARIANT_ARCH),x86_64)
# Its machines are a group of machines.tab. What reads the source has no architecture.
export GROUP = $(VARIANT)
SOURCE_TESTS =
endif
unexport ARCH

# A first look is had with a small kernel, until there is the one that is tested.
OF = $(if $(BASE),-of-$(notdir $(realpath $(BASE))))
BUILT_ALREADY = $(wildcard build/stamps$(if $(filter base,$(ENGINE)),-base)$(OF)/kernel-$(or \
	$(ENGINE),text_sites)$(addprefix -,$(VARIANT))$(OF))
SMALL. = small
SMALL.i386 = i386_small
run shell kernelconfig: VARIANT := $(or $(if $(BUILT_ALREADY),,$(SMALL.$(VARIANT))),$(VARIANT))

STEPS := @tools/testing/text_sites/steps
BUILT := packages tree kernel rootfs
TEST_ALL := tools/testing/text_sites/test-all

.NOTPARALLEL:
.PHONY: help menuconfig kernelconfig packages tree patches series series-test random-test check \
	kernel rootfs run shell test test-host test-machine test-long test-fleet test-picture \
	test-shark model mutants test-classic test-variants test-arm64 test-all bench bench-native \
	deb test-debian clean distclean

help:
	@echo 'make run            build everything, boot it in an emulator, trace something'
	@echo 'make test           build everything, run the tests of the usual kernel'
	@echo
	@echo 'make menuconfig     choose the kernel, and the machine that it runs in'
	@echo 'make kernelconfig   change the options of the kernel, with its own menu'
	@echo
	@echo 'make packages       install the Debian packages this needs'
	@echo 'make tree           build/tree: the base with our patches and files'
	@echo 'make patches        patches/, from the commits in build/patched'
	@echo 'make series         build/series: all of it as mails for git am, with a cover letter'
	@echo 'make kernel         build/<engine>: the kernel'
	@echo 'make rootfs         what the emulated machine boots into'
	@echo 'make shell          a shell in the machine'
	@echo 'make test-host      the tests that need no machine'
	@echo 'make model          the models alone, which test-host checks too'
	@echo 'make mutants        break the code on purpose: a test must notice each time'
	@echo 'make test-machine   the tests that run in the machine'
	@echo 'make test-long      the tests that take long, in machines of up to 16 processors'
	@echo 'make test-fleet     two machines are recorded, and their traces merged'
	@echo 'make test-picture   Chromium, which this installs, opens a drawn trace'
	@echo 'make test-shark     KernelShark, which this installs, shows a trace'
	@echo 'make test-classic   the base'"'"'s own tests, with its own tracing engine'
	@echo 'make test-variants  tests of kernels that are configured in another way'
	@echo 'make test-arm64     a kernel for arm64, where no text is patched: its KUnit tests'
	@echo 'make check          sparse, W=1 and all else that reads the source'
	@echo 'make series-test    compiles and boots each step of the series'
	@echo 'make random-test    compiles and boots small kernels with random tracing options'
	@echo 'make test-all       all of these; what has run with the same kernel is not run again'
	@echo 'make deb            Debian packages of the kernel, with the configuration of Debian'"'"'s'
	@echo '                    for clouds, in build/deb; DBG=1: and of its debug symbols'
	@echo 'make test-debian    installs them in a Debian system and tests what Debian'"'"'s packages do'
	@echo '                    there, with this kernel and with Debian'"'"'s own'
	@echo 'make bench          count what tracing costs, with this engine and in the base'
	@echo 'make bench-native   measure on this processor what can run outside of a kernel'
	@echo 'make clean          remove what was built, but not the compiler cache and build/share'
	@echo 'make distclean      remove build/'
	@echo
	@echo 'ENGINE=text_sites   or classic: the base'"'"'s own tracing engine; or base: the base'
	@echo '                    without patches'
	@echo 'ARCH=i386           for 32-bit x86: kernel, programs and machine. make test, make'
	@echo '                    test-machine: the tests that apply there; make bench: compared with'
	@echo '                    the base there'
	@echo 'VARIANT=name        adds tools/testing/text_sites/config/variant-<name>.config'
	@echo "FRAGMENT='file...'  more options of the kernel, which come on top"
	@echo 'SMP=n               make run, make shell: so many processors'
	@echo 'ACCEL=multi         ... emulated by a thread each; or icount: time is instructions'
	@echo 'CPU=EPYC-Rome       ... of this model'
	@echo "FILTER='vfs_*'      make run: the functions to trace"
	@echo "CMD='ls -R /proc/1' make run: the command to trace them in"
	@echo 'PICTURE=1           make run: draw a trace of calls and their times: build/trace.html'
	@echo "MACHINES='base-*'   make test-machine: only these of machines.tab"
	@echo "ONLY='debug-* rt-*' make test-all: only these, with the group in front of the name;"
	@echo "                    make mutants: ONLY='host-* !kunit-ring-*'"
	@echo 'AGAIN=1             make test: also machines that have passed with the same kernel and tests'
	@echo 'SLOW=n              a machine may take n times as long, on a host with other work'
	@echo "ROWS='lat*'         make bench: only these parts of bench/parts.tab"
	@echo "BASE=folder         another kernel source, in place of Debian's: build/tree-of-<folder>"
	@echo "NUMBERS='1 13'      make series-test: only these steps; make random-test: these"
	@echo "                    kernels, instead of 1 to 12"
	@echo "FILES='init/main.c' make tree: more files of the base that are to be patched"
	@echo 'JOBS=n              processes to compile with'
	@echo 'V=1                 show what the tools print'

packages:
	$(STEPS) packages
tree:
	$(STEPS) packages tree
patches:
	$(STEPS) $@
series:
	$(STEPS) packages tree series
check:
	@GROUP=check MACHINES=host-check $(STEPS:@%=%) test-begin $(BUILT) series check test-host test-end
series-test:
	@GROUP=series $(STEPS:@%=%) $(BUILT) series series-test test-end
random-test:
	@GROUP=random $(STEPS:@%=%) $(BUILT) test-begin random-test test-end
kernel:
	$(STEPS) packages tree kernel
menuconfig kernelconfig:
	$(STEPS) packages tree $@
rootfs:
	$(STEPS) $(BUILT)
run shell:
	$(STEPS) $(BUILT) $@
test:
	$(STEPS) test-begin $(BUILT) $(SOURCE_TESTS) test-machine test-end
test-host:
	$(STEPS) test-begin packages tree series test-host test-end
model:
	$(STEPS) packages
	@MODEL=all prove -v tools/testing/text_sites/host/model.t
mutants:
	$(STEPS) packages
	@tools/testing/text_sites/mutants/run
test-machine: export AGAIN := 1
test-machine:
	$(STEPS) test-begin $(BUILT) test-machine test-end
test-long:
	@ONLY='long-*' $(TEST_ALL)
test-fleet:
	@ONLY='long-fleet' $(TEST_ALL)
test-picture:
	@ONLY='long-picture' $(TEST_ALL)
test-shark:
	@PACKAGES=shark GROUP=shark $(STEPS:@%=%) $(BUILT) $@
test-classic:
	@ONLY='classic-*' $(TEST_ALL)
test-variants:
	@ONLY='!plain-* !long-* !classic-* !series-all !random-all !mutants-all !debian_system-all !shark-all' $(TEST_ALL)
test-arm64:
	@ONLY='arm64-*' $(TEST_ALL)
test-all:
	@$(TEST_ALL)
deb:
	@ENGINE= VARIANT=debian $(STEPS:@%=%) packages tree kernel deb
test-debian:
	@ENGINE= VARIANT=debian GROUP=debian_system $(STEPS:@%=%) test-begin packages tree \
		kernel deb debian test-debian test-end
ifeq ($(VARIANT_ARCH),i386)
bench:
	@ENGINE=base $(STEPS:@%=%) bench
	@ENGINE=text_sites $(STEPS:@%=%) bench bench-table
else
bench:
	@ENGINE=base VARIANT= $(STEPS:@%=%) bench
	@ENGINE=text_sites VARIANT=indirect $(STEPS:@%=%) bench
	@ENGINE=base VARIANT=realtime $(STEPS:@%=%) bench
	@ENGINE=text_sites VARIANT=realtime $(STEPS:@%=%) bench
	@ENGINE=text_sites VARIANT= $(STEPS:@%=%) bench bench-table
endif
bench-native:
	$(STEPS) $@
clean distclean:
	$(STEPS) $@
