/* Every thread takes 0.2 s to end, as if C libraries had much to free for it; a process that exits meanwhile has
   status 99. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
struct start {
    void *(*routine)(void *);
    void *argument;
};

static pthread_key_t key;
static int ending;

static void end_slowly(void *value)
{
    (void)value;
    __atomic_add_fetch(&ending, 1, __ATOMIC_SEQ_CST);
    usleep(200000);
    __atomic_sub_fetch(&ending, 1, __ATOMIC_SEQ_CST);
}

static void *run(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    pthread_setspecific(key, &key);
    return start.routine(start.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    struct start *start = malloc(sizeof *start);
    *start = (struct start){routine, argument};
    return ((create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, start);
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_key_create(&key, end_slowly);
}

__attribute__((destructor)) static void exit_of_the_process(void)
{
    if (__atomic_load_n(&ending, __ATOMIC_SEQ_CST) > 0)
        _exit(99);
}
