// SPDX-License-Identifier: GPL-2.0
/*
 * functions_000: a thousand functions with a site each, functions_000_000 to _999, in a module
 * of which load_copies.pl makes others
 */
#define NAME	functions_000
#include "functions_many.c"
