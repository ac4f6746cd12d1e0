/* SPDX-License-Identifier: GPL-2.0 */
/* 64-bit code needs nothing of this. */
