# SPDX-License-Identifier: GPL-2.0
# Read by each make of a kernel, for what includes binary files by .incbin: the compiler does not
# name these among the files that it has read, so ccache would find an object with an older one in
# it: a kernel would get an older kernel's compressed image, if that has the same length.
%/piggy.o %/rmpiggy.o %/kexec-purgatory.o %/configs.o %/kheaders.o: export CCACHE_DISABLE := 1
%_certificates.o %/initramfs_data.o %/bootconfig-data.o: export CCACHE_DISABLE := 1
