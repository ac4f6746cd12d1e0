// SPDX-License-Identifier: GPL-2.0
/* What the entry code of the breakpoint goes by, in <asm/text_site_entry.h>, is so. */
#include <linux/build_bug.h>
#include <linux/text_site.h>

#include <asm/text_site_entry.h>

static_assert(offsetof(struct text_site_kind, pages) == TEXT_KIND_PAGES);
static_assert(offsetof(struct text_site_kind, insn) == TEXT_KIND_INSN);
static_assert(offsetof(struct text_site_kind, map) == TEXT_KIND_MAP);
static_assert(offsetof(struct text_site_kind, kernel.areas[0]) == TEXT_KIND_AREA);
static_assert(offsetof(struct text_area, start) == TEXT_AREA_START);
static_assert(offsetof(struct text_area, indexed) == TEXT_AREA_INDEXED);
static_assert(offsetof(struct text_area, index) == TEXT_AREA_INDEX);
static_assert(offsetof(struct text_area, sites) == TEXT_AREA_SITES);
static_assert(offsetof(struct text_area, kind) == TEXT_AREA_KIND);
static_assert(offsetof(struct text_insn, opcode) == TEXT_INSN_OPCODE);
static_assert(offsetof(struct text_target, addr) == 0);
static_assert(sizeof(struct text_target) == TEXT_TARGET_LEN);
static_assert(sizeof(struct text_site) == 8 && offsetof(struct text_site, state) == 4);
static_assert(TEXT_SITE_PENDING == TEXT_PENDING && TEXT_SITE_TARGET == U16_MAX);
static_assert(TEXT_TARGET_PAGE - 1 == U8_MAX);
