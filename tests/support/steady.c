/* Preloaded into sysbench 1.0.20. On processors with SSE 4.2, Debian's LuaJIT seeds libc's random() from the clock
   when it is loaded, and draws from it. With that changes all that sysbench draws before `run` sets its seed: the
   rows that `prepare` inserts, for one. Here LuaJIT gets numbers of its own, and sysbench gets libc's sequence from
   its default seed, as on any other processor. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int is_luajit(void *address)
{
    Dl_info object;
    return dladdr(address, &object) && strstr(object.dli_fname, "libluajit") != NULL;
}

void srandom(unsigned seed)
{
    if (!is_luajit(__builtin_return_address(0)))
        ((void (*)(unsigned))dlsym(RTLD_NEXT, "srandom"))(seed);
}

long random(void)
{
    static unsigned state = 1;
    if (is_luajit(__builtin_return_address(0)))
        return rand_r(&state);
    return ((long (*)(void))dlsym(RTLD_NEXT, "random"))();
}
