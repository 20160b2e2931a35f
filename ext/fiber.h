/* Switching between C stacks.
   SPDX-License-Identifier: GPL-2.0-or-later

   sb_context_make prepares a stack on which `entry` will run; sb_context_switch leaves the running one and goes on
   with another. On x86-64 what the System V ABI asks a callee to preserve is kept on the stack that is left;
   elsewhere, or with SB_UCONTEXT defined, the C library does it, at the price of a system call a switch. */
#ifndef SB_FIBER_H
#define SB_FIBER_H
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(SB_UCONTEXT)

typedef struct { void *sp; } sb_context;

__asm__(
    ".text\n"
    ".type sb_stack_switch,@function\n"
    "sb_stack_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size sb_stack_switch,.-sb_stack_switch\n");

extern void sb_stack_switch(void **leave, void *enter);

static inline void sb_context_switch(sb_context *leave, sb_context *enter) { sb_stack_switch(&leave->sp, enter->sp); }

static inline void sb_context_make(sb_context *c, char *stack, size_t size, void (*entry)(void))
{
    uintptr_t *top = (uintptr_t *)(((uintptr_t)stack + size) & ~(uintptr_t)15);
    *--top = 0;                 /* nowhere to return to: unwinders stop here */
    *--top = (uintptr_t)entry;
    for (int i = 0; i < 6; i++)
        *--top = 0;
    c->sp = top;
}

#else
#include <ucontext.h>

typedef ucontext_t sb_context;

static inline void sb_context_switch(sb_context *leave, sb_context *enter) { swapcontext(leave, enter); }

static inline void sb_context_make(sb_context *c, char *stack, size_t size, void (*entry)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = size;
    c->uc_link = NULL;
    makecontext(c, entry, 0);
}

#endif
#endif
