# Text sites: a function tracing engine for the Linux kernel, laid over
# Debian's kernel source. The work is done by tools/testing/text_sites/.

ENGINE  ?= text_sites
VARIANT ?=
FILTER  ?= vfs_*
CMD     ?= ls -R /proc/1
JOBS    ?= $(shell nproc)
V       ?= 0
MACHINES ?= all
ROWS    ?= all

# As they were typed: a $ in FILTER or CMD is not for make.
override FILTER := $(value FILTER)
override CMD    := $(value CMD)
export ENGINE VARIANT FILTER CMD JOBS V MACHINES ROWS

STEPS := @tools/testing/text_sites/steps
BUILT := packages tree kernel rootfs
# $(call VARIANT_STEPS,ENGINE,VARIANT): steps with that kernel, and with its machines
VARIANT_STEPS = ENGINE=$(1) VARIANT=$(2) MACHINES='$(2)-*' \
	TS_MACHINES=tools/testing/text_sites/machines-variants.tab $(STEPS:@%=%)

.NOTPARALLEL:
.PHONY: help packages tree kernel rootfs run shell test test-host test-machine test-long \
	model test-classic test-variants bench bench-native clean distclean

help:
	@echo 'make run            build everything, boot it in an emulator, trace something'
	@echo 'make test           build everything, run all tests'
	@echo
	@echo 'make packages       install the Debian packages this needs'
	@echo 'make tree           build/tree: the base with our patches and files'
	@echo 'make kernel         build/<engine>: the kernel'
	@echo 'make rootfs         what the emulated machine boots into'
	@echo 'make shell          a shell in the machine'
	@echo 'make test-host      the tests that need no machine'
	@echo 'make model          the models alone, which test-host checks too'
	@echo 'make test-machine   the tests that run in the machine'
	@echo 'make test-long      the tests that take long, in machines of up to 16 processors'
	@echo 'make test-classic   the base'"'"'s own tests, with its own tracing engine'
	@echo 'make test-variants  tests of kernels that are configured in another way'
	@echo 'make bench          count what tracing costs, with this engine and in the base'
	@echo 'make bench-native   measure on this processor what can run outside of a kernel'
	@echo 'make clean          remove what was built, but not the compiler cache'
	@echo 'make distclean      remove build/'
	@echo
	@echo 'ENGINE=text_sites   or classic: the base'"'"'s own tracing engine; or base: the base'
	@echo '                    without patches'
	@echo 'VARIANT=name        adds tools/testing/text_sites/config/variant-<name>.config'
	@echo "FILTER='vfs_*'      make run: the functions to trace"
	@echo "CMD='ls -R /proc/1' make run: the command to trace them in"
	@echo "MACHINES='base-*'   make test-machine: only these of machines.tab"
	@echo "ROWS='lat*'         make bench: only these parts of bench/parts.tab"
	@echo 'JOBS=n              processes to compile with'
	@echo 'V=1                 show what the tools print'

packages:
	$(STEPS) packages
tree:
	$(STEPS) packages tree
kernel:
	$(STEPS) packages tree kernel
rootfs:
	$(STEPS) $(BUILT)
run:
	$(STEPS) $(BUILT) run
shell:
	$(STEPS) $(BUILT) shell
test:
	$(STEPS) test-begin $(BUILT) test-host test-machine test-end
test-host:
	$(STEPS) test-begin packages test-host test-end
model:
	$(STEPS) packages
	@prove -v tools/testing/text_sites/host/model.t
test-machine:
	$(STEPS) test-begin $(BUILT) test-machine test-end
test-long:
	@TS_MACHINES=tools/testing/text_sites/machines-long.tab $(STEPS:@%=%) \
		test-begin $(BUILT) test-machine test-end
test-classic:
	@ENGINE=classic MACHINES='base-*' $(STEPS:@%=%) test-begin $(BUILT) test-machine test-end
test-variants:
	@$(call VARIANT_STEPS,classic,no_engine) test-begin $(BUILT) test-machine
	@$(call VARIANT_STEPS,classic,no_tracer) $(BUILT) test-machine
	@$(call VARIANT_STEPS,text_sites,ring_buffer) $(BUILT) test-machine test-end
bench:
	@ENGINE=base VARIANT= $(STEPS:@%=%) bench
	@ENGINE=text_sites VARIANT=indirect $(STEPS:@%=%) bench
	@ENGINE=text_sites VARIANT= $(STEPS:@%=%) bench bench-table
bench-native:
	$(STEPS) $@
clean distclean:
	$(STEPS) $@
