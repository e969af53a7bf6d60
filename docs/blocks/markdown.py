"""How figures and tables look."""


def fence(text, language=""):
    return f"```{language}\n{text.rstrip()}\n```"


def number(value):
    """Four significant digits, with blanks between thousands: 1 048 576."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}" if abs(value) < 10000 else number(round(value))
    return f"{int(value):,}".replace(",", " ")


def count(n):
    """2^20, or as many digits as it takes."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else number(n)


def times(after, before):
    """How many times as much: 0.30 x."""
    return f"{after / before:.2f} x" if before else ""


def percent(share):
    return f"{100 * share:.1f}%"


def gigabytes(bytes_per_second):
    """GB/s, which are 10^9 bytes."""
    return f"{bytes_per_second / 1e9:.0f} GB/s"


def duration(microseconds):
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3g} ms"
    return f"{microseconds:.3g} us"


def ratio(row):
    """How many times as fast a result was as what it was held against, with the interval where there is one."""
    interval = f" ({row['ratio_low']:.3f}..{row['ratio_high']:.3f})" if "ratio_low" in row else ""
    return f"{row['ratio']:.3f}{interval}"


def where(condition, words):
    """Words that hold under a condition, such as a superlative; an error where it does not."""
    if not condition:
        raise ValueError(f"does not hold any more: {words}")
    return words


def rows_of(titles, keys, cells):
    """Rows of a table, in the order of `titles`: of each key its title and what cells(key) gives."""
    return [[titles[key], *map(number, cells(key))] for key in sorted(keys, key=list(titles).index)]
