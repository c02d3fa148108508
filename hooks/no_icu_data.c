/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ICU, which a static libxml2 brings along, finds in place of its 30 MB of data. */
extern const char no_icu_data[64];
const char no_icu_data[64] = "";
