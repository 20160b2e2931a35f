/* Relaxed and sequential atomics on plain integers, and the pointer to the calling thread's own state.
   SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SB_ATOMIC_H
#define SB_ATOMIC_H
#include <stdint.h>

static inline uint64_t sb_load(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void sb_store(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
/* A count of things that are complete when another thread sees it. */
static inline void sb_publish(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline uint64_t sb_acquire(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline uint64_t sb_fetch_add(uint64_t *p, uint64_t n) { return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST); }
static inline int sb_flag(const int *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void sb_set_flag(int *p, int v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
/* Have a cache line fetched, to be written soon, while other work goes on. */
static inline void sb_fetch_ahead(const void *p) { __builtin_prefetch(p, 1); }
/* 64 - leading zeros; value is never 0 here. */
static inline int sb_bit_length(uint64_t value) { return 64 - __builtin_clzll(value); }

#endif
