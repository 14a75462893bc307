"""Random numbers from random bits, with the operations of any library.

Every step is exact or correctly rounded: integers, additions, multiplications, divisions and square roots of one dtype.
So all libraries that follow IEEE 754 return the same bits, unless a compiler contracts ``a * b + c`` to one rounding.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.random import WORD, Draw


class Arithmetic(NamedTuple):
    """The operations of a library that the functions below need, in addition to operators.

    Attributes
    ----------
    where, sqrt, astype : callable
        As in the standard; the square root is correctly rounded.
    as_dtype : callable
        The native dtype of a name.
    frexp : callable
        The mantissa and the exponent of positive normal numbers, from the numbers and their format: ``x == m * 2**e``,
        m from about
        sqrt(1/2) to sqrt(2), both in the dtype of x. See `frexp_of_bits`.
    rounded, positive : callable
        The product itself; if a compiler contracts ``a * b + c`` to one rounding, an equal expression that prevents it.
        ``positive`` is for products that are never negative.
    divide : callable
        The correctly rounded quotient of two arrays of one shape.
    places : callable, optional
        The indices of the true elements of a mask. With it, rare cases are computed only for their elements.
    """

    where: Callable[..., Any]
    sqrt: Callable[..., Any]
    astype: Callable[..., Any]
    as_dtype: Callable[[str], Any]
    frexp: Callable[..., Any]
    rounded: Callable[..., Any] = lambda x: x
    positive: Callable[..., Any] = lambda x: x
    divide: Callable[..., Any] = operator.truediv
    places: Callable[..., Any] | None = None


class Format(NamedTuple):
    """The constants of a floating-point dtype, and the random bits that one number takes."""

    bits: int
    digits: int
    """The random bits of a uniform number: as many as the mantissa has."""
    normal: int
    """The random bits of a normal number."""
    centre: tuple[tuple[float, ...], tuple[float, ...]]
    """Numerator and denominator of the inverse of the normal distribution, the highest power first."""
    tail: tuple[tuple[float, ...], tuple[float, ...]]
    far: tuple[tuple[float, ...], tuple[float, ...]]
    log: tuple[float, ...]
    """The polynomial in s*s that times s is the logarithm of (1 + s) / (1 - s), the highest power first."""
    ln2: tuple[float, float]
    """The logarithm of 2 as a sum whose first term has trailing zeros."""
    mantissa: int
    """The number of stored bits of the mantissa."""
    bias: int
    """The stored exponent of 1."""
    lowest: int
    """The bits of the least mantissa, about sqrt(1/2), as an integer."""


# The inverse of the normal distribution: Wichura, Algorithm AS 241 (Applied Statistics 37, 1988), PPND16 and PPND7. The
# logarithm: fdlibm, e_log.c and e_logf.c (Sun Microsystems, 1993).
FORMATS = {
    "float64": Format(
        64,
        53,
        53,
        (
            (
                *(2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457),
                *(13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
            ),
            (
                *(5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867),
                *(5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
            ),
        ),
        (
            (
                *(7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258),
                *(3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
            ),
            (
                *(1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459),
                *(0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
            ),
        ),
        (
            (
                *(
                    2.01033439929228813265e-7,
                    2.71155556874348757815e-5,
                    0.0012426609473880784386,
                    0.026532189526576123093,
                ),
                *(0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
            ),
            (
                *(
                    2.04426310338993978564e-15,
                    1.4215117583164458887e-7,
                    1.8463183175100546818e-5,
                    7.868691311456132591e-4,
                ),
                *(0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
            ),
        ),
        (
            *(1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01),
            *(2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01, 2.0),
        ),
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        52,
        1023,
        0x3FE6A09E00000000,
    ),
    "float32": Format(
        32,
        24,
        32,
        ((59.109374720, 159.29113202, 50.434271938, 3.3871327179), (67.187563600, 78.757757664, 17.895169469, 1.0)),
        ((0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777), (0.12021132975, 0.73700164250, 1.0)),
        ((0.017337203997, 0.42868294337, 3.0812263860, 6.6579051150), (0.012258202635, 0.24197894225, 1.0)),
        (0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693, 2.0),
        (6.9313812256e-01, 9.0580006145e-06),
        23,
        127,
        0x3F3504F3,
    ),
}
# Up to this distance of the probability from 1/2, AS 241 uses the first of its three formulas.
CENTRAL = 0.425
# The square roots of the negative logarithms of probabilities from which its second and third formulas count.
TAIL, FAR = 1.6, 5.0


def from_bits(a: Arithmetic, draw: Draw, bits: Array) -> Array:
    """The numbers of a draw from random bits, which are int64 or int32 in two's complement."""
    if draw.kind == "bits":
        return a.astype(bits, a.as_dtype(draw.dtype))
    if draw.kind == "integers":
        # Offset plus lowest integer modulo 2**64: the sum wraps to the right bits for int64 and uint64 alike.
        return a.astype(multiply_shift(bits, draw.width) + signed_int64(draw.low), a.as_dtype(draw.dtype))
    return scaled(a, draw, _OF_BITS[draw.kind](a, FORMATS[draw.dtype], a.as_dtype(draw.dtype), bits))


def scaled(a: Arithmetic, draw: Draw, x: Array) -> Array:
    """Standard numbers with the location and the scale of the draw."""
    # Only Python numbers can be compared here; a traced scale always multiplies.
    if isinstance(draw.scale, float) and draw.scale == 1.0 and draw.loc == 0.0:
        return x
    # Two roundings on every library: a fused multiply-add would give other bits.
    return a.rounded(x * draw.scale) + draw.loc


def multiply_shift(bits: Array, width: int) -> Array:
    """``(bits * width) >> 64`` for unsigned 64-bit numbers, in int64 that wraps.

    Lemire, Fast random integer generation in an interval (ACM TOMACS 29, 2019), without the rejection.
    """
    if width == 1 << 64:
        return bits
    return narrow_product(bits, width) if width <= 1 << 32 else wide_product(bits, width >> 32, width & WORD)


def narrow_product(bits: Array, width: Any) -> Array:
    """As `multiply_shift`, for widths up to 2**32."""
    # The shift of a signed number repeats the sign; the mask makes it a logical shift. So too below.
    high, low = (bits >> 32) & WORD, bits & WORD
    # (high * 2**32 + low) * width >> 64. With width <= 2**32 no unsigned product or sum exceeds 64 bits.
    return ((high * width + ((low * width >> 32) & WORD)) >> 32) & WORD


def wide_product(bits: Array, upper: Any, lower: Any) -> Array:
    """As `multiply_shift`, for the two words of a width."""
    high, low = (bits >> 32) & WORD, bits & WORD
    first, second = high * lower, low * upper
    # Long multiplication in base 2**32, of which only the upper two of four digits are wanted; the lower ones matter by
    # their carry, which is below 3 * 2**32.
    carry = ((low * lower >> 32) & WORD) + (first & WORD) + (second & WORD)
    return high * upper + ((first >> 32) & WORD) + ((second >> 32) & WORD) + (carry >> 32)


def signed_int64(value: int) -> int:
    """An unsigned 64-bit integer as the int64 with the same bits."""
    return value - (1 << 64) if value >= 1 << 63 else value


def uniform(a: Arithmetic, form: Format, dtype: Any, bits: Array) -> Array:
    """The upper bits, 53 or 24, as a fraction in [0, 1)."""
    # As many bits as the mantissa has: the cast and the product with a power of 2 are exact, and the result is below 1.
    upper = (bits >> (form.bits - form.digits)) & ((1 << form.digits) - 1)
    return a.astype(upper, dtype) * 2.0**-form.digits


def exponential(a: Arithmetic, form: Format, dtype: Any, bits: Array) -> Array:
    """The negative logarithm of a uniform number in (0, 1]."""
    upper = (bits >> (form.bits - form.digits)) & ((1 << form.digits) - 1)
    # The sum is at most 2**digits, so it is exact, and 0 is not in its range: the logarithm is finite.
    return minus_log(a, form, (a.astype(upper, dtype) + 1.0) * 2.0**-form.digits)


def normal(a: Arithmetic, form: Format, dtype: Any, bits: Array) -> Array:
    """The inverse of the normal distribution at ``1/2 + q``, with q = (the upper bits + 1/2) / 2**bits, signed."""
    # The sign of the bits is the sign of the number; the others are the magnitude. ~n pairs with n, so positive and
    # negative numbers have the same magnitudes, and 0 is not among them.
    signed = bits >> (form.bits - form.normal) if form.bits > form.normal else bits
    magnitude = signed ^ (signed >> (form.bits - 1))
    # q is at the middle of its interval, so that neither q nor 1/2 - q is ever 0.
    half, unit = 1 << (form.normal - 1), 2.0**-form.normal
    q = (a.astype(magnitude, dtype) + 0.5) * unit
    # Not CENTRAL**2 - q * q, which would cancel near CENTRAL, and which compilers contract.
    x = q * rational(a, form.centre, (CENTRAL - q) * (CENTRAL + q))
    is_tail = q > CENTRAL
    if a.places is None:
        # p = 1/2 - q from the integers, which is exact where the difference of rounded numbers would have lost the far
        # tail.
        p = (a.astype((half - 1) - magnitude, dtype) + 0.5) * unit
        # Both formulas for all elements; the result of the other formula is dropped.
        x = a.where(is_tail, _tail(a, form, p), x)
    else:
        # The tail is 15 % of the elements: the second formula is computed only for these.
        tail = a.places(is_tail)
        p = (a.astype((half - 1) - magnitude[tail], dtype) + 0.5) * unit
        x[tail] = _tail(a, form, p)
    return a.where(signed < 0, -x, x)


def _tail(a: Arithmetic, form: Format, p: Array) -> Array:
    """The distance from 0 beyond which a normal number is with probability p, for p below 0.075."""
    # p < 0.075, so r > TAIL and the argument of the polynomials is positive, as `polynomial` demands.
    r = a.sqrt(minus_log(a, form, p))
    x = rational(a, form.tail, r - TAIL)
    is_far = r > FAR
    if a.places is None:
        return a.where(is_far, rational(a, form.far, r - FAR), x)
    far = a.places(is_far)
    x[far] = rational(a, form.far, r[far] - FAR)
    return x


def minus_log(a: Arithmetic, form: Format, x: Array) -> Array:
    """The negative logarithm of normal numbers in (0, 1], within two units in the last place."""
    mantissa, exponent = a.frexp(x, form)
    # Exact by Sterbenz's lemma, as the mantissa is between 1/2 and 2. 0.0 - exponent has no negative zero.
    f, n = mantissa - 1.0, 0.0 - exponent
    # log(1 + f) = log((1 + s) / (1 - s)), an odd function of s: half as many coefficients as a series in f.
    s = a.divide(f, f + 2.0)
    # n * high is exact, as `high` ends with enough zeros for n; the small terms are added first, so that the last sum
    # rounds once. All products are marked, so that none is contracted.
    high, low = form.ln2
    return n * high + (a.positive(n * low) - a.rounded(s * polynomial(a, form.log, s * s)))


def rational(a: Arithmetic, coefficients: tuple[Sequence[float], Sequence[float]], x: Array) -> Array:
    """A quotient of two polynomials."""
    numerator, denominator = coefficients
    return a.divide(polynomial(a, numerator, x), polynomial(a, denominator, x))


def polynomial(a: Arithmetic, coefficients: Sequence[float], x: Array) -> Array:
    """A polynomial by Horner's rule, the highest power first. The coefficients are positive, and so is x."""
    first, *rest = coefficients
    value: Any = first
    for coefficient in rest:
        value = a.positive(x * value) + coefficient
    return value


def frexp_of_bits(
    bits: Array, form: Format, as_floating: Callable[..., Any], astype: Callable[..., Any]
) -> tuple[Array, Array]:
    """Mantissa and exponent from the bits of floating-point numbers, as integers; see `Arithmetic`."""
    # The addition carries into the exponent exactly where the number passes sqrt(1/2): one step instead of a
    # comparison. fdlibm does the same.
    shifted = bits + ((form.bias << form.mantissa) - form.lowest)
    mantissa = as_floating((shifted & ((1 << form.mantissa) - 1)) + form.lowest)
    return mantissa, astype((shifted >> form.mantissa) - form.bias, mantissa.dtype)


_OF_BITS: dict[str, Callable[..., Any]] = {"uniform": uniform, "normal": normal, "exponential": exponential}
