# Random numbers: generator, seeding, distributions and strings, value for value those of sysbench 1.0.20;
# zipfian and varstring are those of its master branch.

cdef extern from *:
    """
    static __thread uint64_t *sb_rng_state;
    """
    uint64_t *sb_rng_state      # two words of the calling thread, set by rng_enter

cdef struct rand_options:
    int distribution            # DIST_*
    unsigned iterations         # of gaussian and special
    double iterations_inverse
    double special_range        # 100 / (100 - percentage of special values)
    double special_width        # fraction of the range that is special
    double special_offset
    double pareto_power
    double zipf_exponent
    double zipf_s
    double zipf_h1

cdef enum:
    DIST_UNIFORM = 0
    DIST_GAUSSIAN = 1
    DIST_SPECIAL = 2
    DIST_PARETO = 3
    DIST_ZIPFIAN = 4

cdef rand_options rnd
cdef uint32_t unique_offset = 0
cdef uint64_t rng_of_main[2]


# -- the generator: xoroshiro128+ with the constants 55, 14, 36 (Blackman and Vigna, 2016)

cdef inline uint64_t rotl(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef inline uint64_t rng_next(uint64_t *s) noexcept nogil:
    cdef uint64_t s0 = s[0]
    cdef uint64_t s1 = s[1]
    cdef uint64_t t = s0 ^ s1
    s[0] = rotl(s0, 55) ^ t ^ (t << 14)
    s[1] = rotl(t, 36)
    return s0 + s1


cdef inline double rng_double(uint64_t *s) noexcept nogil:
    return <double>(rng_next(s) >> 12) * 2.220446049250313e-16      # 2^-52


cdef class LibcRandom:
    """glibc's default random(): an additive feedback generator of degree 31.

    Its own copy of the state, so that nothing else in the process moves the sequence."""
    cdef uint32_t ring[34]
    cdef int at

    def __init__(self, unsigned int seed):
        cdef int64_t word = seed if seed else 1
        cdef int i
        self.ring[0] = <uint32_t>word
        word = <int32_t>self.ring[0]
        for i in range(1, 31):
            word = 16807 * (word % 127773) - 2836 * (word // 127773)    # cdivision: C semantics
            if word < 0:
                word += 2147483647
            self.ring[i] = <uint32_t>word
        self.at = 3
        for i in range(310):
            self.draw()

    cpdef uint32_t draw(self):
        """The next 31-bit value."""
        cdef int i = self.at
        cdef uint32_t value = self.ring[(i + 28) % 31] + self.ring[i]
        self.ring[i] = value
        self.at = (i + 1) % 31
        return value >> 1

    def state(self):
        """Four draws: the two words that seed a thread's generator."""
        r1 = self.draw(); r2 = self.draw(); r3 = self.draw(); r4 = self.draw()
        return (r1 << 32) + r2 & 0xFFFFFFFFFFFFFFFF, (r3 << 32) + r4 & 0xFFFFFFFFFFFFFFFF


# -- distributions over a .. b; all arithmetic on a and b is unsigned 32-bit. What draws many numbers works on a
#    copy of the generator, which the compiler keeps in registers.

cdef public uint64_t sb_rand_uniform_uint64() noexcept nogil:
    return rng_next(sb_rng_state)


cdef public double sb_rand_uniform_double() noexcept nogil:
    return rng_double(sb_rng_state)


cdef public uint32_t sb_rand_uniform(uint32_t a, uint32_t b) noexcept nogil:
    return <uint32_t><int64_t>(a + rng_double(sb_rng_state) * <uint32_t>(b - a + 1))


cdef public uint32_t sb_rand_gaussian(uint32_t a, uint32_t b) noexcept nogil:
    cdef double total = 0
    cdef double n = <uint32_t>(b - a + 1)
    cdef unsigned i
    cdef uint64_t *state = sb_rng_state
    cdef uint64_t s[2]
    s[0], s[1] = state[0], state[1]
    for i in range(rnd.iterations):
        total += rng_double(s) * n
    state[0], state[1] = s[0], s[1]
    return a + <uint32_t>(total * rnd.iterations_inverse)


cdef public uint32_t sb_rand_special(uint32_t a, uint32_t b) noexcept nogil:
    cdef double total = 0
    cdef double w = <uint32_t>(b - a)
    cdef double u, x, d
    cdef unsigned i
    cdef uint64_t *state = sb_rng_state
    cdef uint64_t s[2]
    s[0], s[1] = state[0], state[1]
    u = rng_double(s)
    x = u * (w * rnd.special_range)
    if x < w:
        for i in range(rnd.iterations):
            total += rng_double(s)
    state[0], state[1] = s[0], s[1]
    if x < w:
        return <uint32_t><int64_t>(a + total * w * rnd.iterations_inverse)
    d = w * rnd.special_width
    return a + <uint32_t><int64_t>(u * (d + 1) + w / 2 - w * rnd.special_offset)


cdef public uint32_t sb_rand_pareto(uint32_t a, uint32_t b) noexcept nogil:
    return a + <uint32_t>(<uint32_t>(b - a + 1) * pow(rng_double(sb_rng_state), rnd.pareto_power))


# Zipfian by rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from
# monotone discrete distributions", ACM TOMACS 6 (1996).

cdef double zipf_expm1_ratio(double z) noexcept nogil:
    if fabs(z) > 1e-8:
        return expm1(z) / z
    return 1 + z / 2 * (1 + z / 3 * (1 + z / 4))


cdef double zipf_log1p_ratio(double z) noexcept nogil:
    if fabs(z) > 1e-8:
        return log1p(z) / z
    return 1 - z * (0.5 - z * (1.0 / 3 - z / 4))


cdef double zipf_h_integral(double x) noexcept nogil:
    cdef double log_x = log(x)
    return zipf_expm1_ratio((1 - rnd.zipf_exponent) * log_x) * log_x


cdef double zipf_h(double x) noexcept nogil:
    return exp(-rnd.zipf_exponent * log(x))


cdef double zipf_h_integral_inverse(double y) noexcept nogil:
    cdef double t = y * (1 - rnd.zipf_exponent)
    if t < -1:
        t = -1
    return exp(zipf_log1p_ratio(t) * y)


cdef public uint32_t sb_rand_zipfian(uint32_t a, uint32_t b) noexcept nogil:
    cdef uint64_t *s = sb_rng_state
    cdef double n = <uint32_t>(b - a + 1)
    cdef double h_n = zipf_h_integral(n + 0.5)
    cdef double u, x, k
    while True:
        u = h_n + rng_double(s) * (rnd.zipf_h1 - h_n)
        x = zipf_h_integral_inverse(u)
        k = floor(x + 0.5)
        if k < 1:
            k = 1
        elif k > n:
            k = n
        if k - x <= rnd.zipf_s or u >= zipf_h_integral(k + 0.5) - zipf_h(k):
            return a + <uint32_t>k - 1


cdef public uint32_t sb_rand_default(uint32_t a, uint32_t b) noexcept nogil:
    if rnd.distribution == DIST_SPECIAL:
        return sb_rand_special(a, b)
    if rnd.distribution == DIST_UNIFORM:
        return sb_rand_uniform(a, b)
    if rnd.distribution == DIST_PARETO:
        return sb_rand_pareto(a, b)
    if rnd.distribution == DIST_ZIPFIAN:
        return sb_rand_zipfian(a, b)
    return sb_rand_gaussian(a, b)


# -- the unique sequence: a permutation of 32-bit numbers by quadratic residues modulo 4294967291

cdef uint32_t permute(uint32_t x) noexcept nogil:
    cdef uint64_t p = 4294967291
    cdef uint32_t r
    if x >= p:
        return x
    r = <uint32_t>((<uint64_t>x * x) % p)
    return r if x <= p // 2 else <uint32_t>(p - r)


cdef public uint32_t sb_rand_unique() noexcept nogil:
    cdef uint32_t i = <uint32_t>sb_fetch_add(&across.unique_index, 1)
    return permute(<uint32_t>(permute(i) + unique_offset) ^ <uint32_t>0x5bf03635)


cdef public uint64_t sb_sequence_next() noexcept nogil:
    """0, 1, 2, ... over all threads of a command, for scripts whose threads share out numbered things."""
    return sb_fetch_add(&across.sequence, 1)


cdef inline uint64_t mix64(uint64_t z) noexcept nogil:
    """The finalizer of SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014, with the constants of variant 13 (D. Stafford)."""
    z = (z ^ (z >> 30)) * <uint64_t>0xbf58476d1ce4e5b9
    z = (z ^ (z >> 27)) * <uint64_t>0x94d049bb133111eb
    return z ^ (z >> 31)


cdef public void sb_rand_seed(uint64_t seed, uint64_t stream, uint64_t part) noexcept nogil:
    """Begin the calling thread's numbers anew: what follows is the same for the same three numbers."""
    cdef uint64_t step = 0x9e3779b97f4a7c15
    cdef uint64_t h = mix64(mix64(mix64(seed + step) + stream + step) + part + step)
    # They differ, so that not both are 0.
    sb_rng_state[0] = mix64(h + step)
    sb_rng_state[1] = mix64(h + 2 * step)


# -- strings

cdef size_t rand_str(const char *template, char *buffer) noexcept nogil:
    """Replace # by a digit and @ by a letter; returns the length. No terminator is written.

    As sb_rand_uniform(48, 57) and (97, 122) do."""
    cdef uint64_t *state = sb_rng_state
    cdef uint64_t s[2]
    cdef size_t i = 0
    cdef char c = template[0]
    s[0], s[1] = state[0], state[1]
    while c != 0:
        if c == 35:
            c = <char><int>(48 + rng_double(s) * 10)
        elif c == 64:
            c = <char><int>(97 + rng_double(s) * 26)
        buffer[i] = c
        i += 1
        c = template[i]
    state[0], state[1] = s[0], s[1]
    return i


cdef public void sb_rand_str(const char *format, char *buffer) noexcept nogil:
    rand_str(format, buffer)


cdef public uint32_t sb_rand_varstr(char *buffer, uint32_t min_len, uint32_t max_len) noexcept nogil:
    cdef uint32_t length = sb_rand_uniform(min_len, max_len)
    cdef uint32_t i
    for i in range(length):
        buffer[i] = <char>sb_rand_uniform(48, 122)
    return length


# -- set-up, from Python

def rand_setup(str distribution, unsigned int iterations, double special_pct, double special_res,
               double pareto_h, double zipfian_exp) -> None:
    """Set the parameters of the distributions (--rand-*) and the one behind `default`."""
    rnd.distribution = {"uniform": DIST_UNIFORM, "gaussian": DIST_GAUSSIAN, "special": DIST_SPECIAL,
                        "pareto": DIST_PARETO, "zipfian": DIST_ZIPFIAN}[distribution]
    rnd.iterations = iterations
    rnd.iterations_inverse = 1.0 / iterations if iterations else 0.0
    # A share of special values of 100 % leaves no room for others: then every draw is special.
    rnd.special_range = 100.0 / (100.0 - special_res) if special_res < 100 else 1e300
    rnd.special_width = special_pct / 100.0
    rnd.special_offset = special_pct / 200.0
    rnd.pareto_power = log(pareto_h) / log(1.0 - pareto_h) if 0 < pareto_h < 1 else 1.0
    rnd.zipf_exponent = zipfian_exp
    rnd.zipf_s = 2 - zipf_h_integral_inverse(zipf_h_integral(2.5) - zipf_h(2))
    rnd.zipf_h1 = zipf_h_integral(1.5) - 1


def rand_start_command() -> LibcRandom:
    """Put the main state's generator and the unique sequence where they stand when sysbench starts:
    four and two draws of an unseeded libc generator. Returns that generator, for workers of commands."""
    global unique_offset
    across.sequence = 0
    libc = LibcRandom(1)
    rng_of_main[0], rng_of_main[1] = libc.state()
    cdef uint32_t offset = libc.draw()
    cdef uint32_t index = libc.draw()
    across.unique_index = permute(<uint32_t>(permute(index) + <uint32_t>0x682f0161))
    unique_offset = permute(<uint32_t>(permute(offset) + <uint32_t>0x46790905))
    return libc


