# What every Lua state may need and few do, kept once for all of them: parts of internal Lua and prototypes by name,
# and the code of script files by path. Nothing is ever freed, as another thread may be reading it.

cdef extern from "<sys/stat.h>" nogil:
    ctypedef struct file_status "struct stat":
        timespec st_mtim
        uint64_t st_ino
        uint64_t st_size
    int stat_of_file "stat" (const char *, file_status *)

cdef struct stored_text:
    char *name
    file_status file            # of a script: as it was when it was read
    stored_text *next
    size_t length               # of the text, which follows

cdef stored_text *stored_texts = NULL
cdef stored_text *stored_scripts = NULL
cdef pthread_mutex_t stored_mutex
pthread_mutex_init(&stored_mutex, NULL)


cdef stored_text *stored_find(stored_text **entries, const char *name) noexcept nogil:
    """The newest of that name, or NULL."""
    cdef stored_text *entry
    pthread_mutex_lock(&stored_mutex)
    entry = entries[0]
    while entry != NULL and strcmp(entry.name, name) != 0:
        entry = entry.next
    pthread_mutex_unlock(&stored_mutex)
    return entry


cdef void stored_add(stored_text **entries, const char *name, const char *text, size_t length,
                     const file_status *file) noexcept nogil:
    """Without memory, nothing is added."""
    cdef size_t name_size = strlen(name) + 1
    cdef stored_text *entry = <stored_text *>malloc(sizeof(stored_text) + name_size + length)
    if entry == NULL:
        return
    entry.length = length
    memcpy(entry + 1, text, length)
    entry.name = <char *>(entry + 1) + length
    memcpy(entry.name, name, name_size)
    if file != NULL:
        entry.file = file[0]
    pthread_mutex_lock(&stored_mutex)
    entry.next = entries[0]
    entries[0] = entry
    pthread_mutex_unlock(&stored_mutex)


def store_text(bytes name not None, bytes text not None) -> None:
    """Keep what sb_stored gives."""
    stored_add(&stored_texts, name, text, len(text), NULL)


cdef public const size_t *sb_stored(const char *name) noexcept nogil:
    """The text of that name; NULL if there is none."""
    cdef stored_text *entry = stored_find(&stored_texts, name)
    return NULL if entry == NULL else &entry.length


cdef public void sb_store_script(const char *path, const char *code, size_t length) noexcept nogil:
    """Keep the code of a file that has just been read."""
    cdef file_status file
    if stat_of_file(path, &file) == 0:
        stored_add(&stored_scripts, path, code, length, &file)


cdef public const size_t *sb_stored_script(const char *path) noexcept nogil:
    """The code of a file; NULL if there is none of the file as it is now."""
    cdef file_status file
    cdef stored_text *entry = stored_find(&stored_scripts, path)
    if (entry == NULL or stat_of_file(path, &file) != 0 or file.st_ino != entry.file.st_ino
            or file.st_size != entry.file.st_size or file.st_mtim.tv_sec != entry.file.st_mtim.tv_sec
            or file.st_mtim.tv_nsec != entry.file.st_mtim.tv_nsec):
        return NULL
    return &entry.length
