# SPDX-License-Identifier: GPL-2.0
# Read by each make of a kernel, for what includes binary files by .incbin: the compiler does not
# name these among the files that it has read, so ccache would find an object with an older one. A
# kernel whose compressed image is as long as that of an older kernel would be that one.
%/piggy.o %/rmpiggy.o %/kexec-purgatory.o %/configs.o %/kheaders.o: export CCACHE_DISABLE := 1
%_certificates.o %/initramfs_data.o %/bootconfig-data.o: export CCACHE_DISABLE := 1
