# Input and output by copying from and to files that are mapped into memory.

cdef extern from "<sys/mman.h>" nogil:
    int msync(void *, size_t, int)
    int MS_SYNC, MS_INVALIDATE

# What a system call would return as an error is a signal here: a page that cannot be written because the disk is
# full, or read, or that is behind the end of a file. The handler ends the process with a line that names the place;
# only functions that are safe in a signal handler are used.
cdef extern from *:
    """
    #include <signal.h>
    #include <stdint.h>
    #include <unistd.h>

    static struct {
      char **maps;
      int files;
      uint64_t file_bytes;
      int told;
      struct sigaction before;
    } sb_mapped;

    static char *sb_append(char *to, const char *text)
    {
      while (*text)
        *to++ = *text++;
      return to;
    }

    static char *sb_append_number(char *to, uint64_t value)
    {
      char digits[24], *at = digits + sizeof(digits) - 1;
      *at = 0;
      do
        *--at = '0' + value % 10;
      while (value /= 10);
      return sb_append(to, at);
    }

    static void sb_on_bus_error(int number, siginfo_t *info, void *context)
    {
      char line[256], *end = line;
      uintptr_t address = (uintptr_t) info->si_addr;
      int i;
      for (i = 0; i < sb_mapped.files; i++)
        if (address - (uintptr_t) sb_mapped.maps[i] < sb_mapped.file_bytes)
          break;
      if (i == sb_mapped.files)
        {
          sigaction(SIGBUS, &sb_mapped.before, NULL);   /* not ours: it comes again, to whoever had it before */
          return;
        }
      if (__atomic_exchange_n(&sb_mapped.told, 1, __ATOMIC_SEQ_CST))
        for (;;)
          pause();                                      /* another thread is ending the process */
      end = sb_append(end, "FATAL: Failed to access file! file: test_file.");
      end = sb_append_number(end, i);
      end = sb_append(end, " pos: ");
      end = sb_append_number(end, address - (uintptr_t) sb_mapped.maps[i]);
      end = sb_append(end, ": the disk is full or broken, or the file has become shorter (SIGBUS)\\n");
      (void) !write(STDOUT_FILENO, line, end - line);
      _exit(1);
    }

    static void sb_watch_maps(char **maps, int files, uint64_t file_bytes)
    {
      struct sigaction action;
      memset(&action, 0, sizeof(action));
      action.sa_sigaction = sb_on_bus_error;
      action.sa_flags = SA_SIGINFO;
      sb_mapped.maps = maps;
      sb_mapped.files = files;
      sb_mapped.file_bytes = file_bytes;
      sigaction(SIGBUS, &action, &sb_mapped.before);
    }

    static void sb_unwatch_maps(void) { sigaction(SIGBUS, &sb_mapped.before, NULL); }
    """
    void sb_watch_maps(char **, int, uint64_t) nogil
    void sb_unwatch_maps() nogil


cdef void unmap_files(file_test *test) noexcept nogil:
    cdef int i
    if test.maps == NULL:
        return
    sb_unwatch_maps()
    for i in range(test.settings.files):
        if test.maps[i] != NULL:
            munmap(test.maps[i], test.settings.file_bytes)
    free(test.maps)
    test.maps = NULL


cdef int map_files(file_test *test) noexcept nogil:
    """-1, or the number of the file that cannot be mapped; errno then tells why."""
    cdef file_settings *s = &test.settings
    cdef int protection = PROT_READ | PROT_WRITE if s.writes else PROT_READ
    cdef void *address
    cdef int i
    test.maps = <char **>calloc(s.files, sizeof(char *))
    if test.maps == NULL:
        return 0
    sb_watch_maps(test.maps, s.files, s.file_bytes)
    for i in range(s.files):
        address = mmap(NULL, s.file_bytes, protection, MAP_SHARED, test.descriptors[i], 0)
        if address == MAP_FAILED:
            return i
        test.maps[i] = <char *>address
    return -1


cdef int64_t mmap_start(file_worker *w, file_slot *slot) noexcept nogil:
    """Do a request; its result as `transfer` has it."""
    cdef file_request *request = &slot.request
    cdef char *place = w.test.maps[request.file] + request.position
    if request.operation == FILE_FSYNC:
        return 0 if msync(place, w.test.settings.file_bytes, MS_SYNC | MS_INVALIDATE) == 0 else -errno
    if request.operation == FILE_READ:
        memcpy(slot.buffer, place, request.size)
    else:
        memcpy(place, slot.buffer, request.size)
    return request.size
