/* SPDX-License-Identifier: GPL-2.0 */
/* 64-bit code multiplies by itself. */
