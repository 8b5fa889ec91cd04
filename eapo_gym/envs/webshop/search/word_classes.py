"""What every character does at the boundary of a word: properties of Unicode 12.1 and of its emoji, in one letter each.

The letters:

    -   is no part of a word            a   letter (Hangul too), but not a Hebrew one
    "   double quote                    h   Hebrew letter
    '   single quote                    1   digit of ASCII (may carry a keycap)
    ,   joins digits (MidNum)           n   any other digit
    .   joins either (MidNumLet)        #   "#" and "*" (may carry a keycap)
    :   joins letters (MidLetter)       K   Katakana
    _   joins all (ExtendNumLet)        H   Han or Hiragana: a word of its own
    s   of scripts without blanks, as Thai; S if it extends the character before it too
    E   emoji                           e   emoji that is a letter too
    F   half of a flag                  m   skin tone (extends too)
    x   extends the character before it, or is formatting; so do the following:
    z   zero-width joiner               k   keycap
    t   variation selector "text"       f   variation selector "emoji"
    g   letter of a tag                 G   end of a tag
"""

from __future__ import annotations

from functools import cache

# One run of code points after the other, from zero on: its letter, and its length in hexadecimal if that is not 1.
_RUNS = r"""
-22 " # -3 ' -2 # - , - . - 1a : , -5 a1a -4 _ - a1a -2e E a -2 x E -6 a - : -2 a -5 a17 - a1f - a1e0 -6 a7 -7 a14
x70 a5 - a2 -2 a4 , a -6 a : a3 - a - a14 - a53 - a8b - x7 aa6 - a26 -2 a - a2 - a - a29 , -7 x2d - x - x2 - x2 - x
-8 h1b -4 h4 a : -b x6 -6 ,2 -2 xb - x -3 a2b x15 na - n , - a2 x a63 - a x8 - x6 a2 x2 - x4 a2 na a3 -2 a -f x a x
a1e x1b -2 a59 xb a -e na a21 x9 a2 -2 , - a -2 x -2 a16 x4 a x9 a x3 a x5 -12 a19 x3 -4 ab -35 a15 - a8 -15 x31 a36
x3 a x12 a x7 aa x2 -2 na - a10 x3 - a8 -2 a2 -2 a16 - a7 - a -3 a4 -2 x a x7 -2 x2 -2 x3 a -8 x -4 a2 - a3 x2 -2 na
a2 -a a - x -2 x3 - a6 -4 a2 -2 a16 - a7 - a2 - a2 - a2 -2 x - x5 -4 x2 -2 x3 -3 x -7 a4 - a -7 na x2 a3 x -b x3 -
a9 - a3 - a16 - a7 - a2 - a5 -2 x a x8 - x3 - x3 -2 a -f a2 x2 -2 na -9 a x6 - x3 - a8 -2 a2 -2 a16 - a7 - a2 - a5
-2 x a x7 -2 x2 -2 x3 -8 x2 -4 a2 - a3 x2 -2 na - a -10 x a - a6 -3 a3 - a4 -3 a2 - a - a2 -3 a2 -3 a3 -3 ac -4 x5
-3 x3 - x4 -2 a -6 x -e na -10 x5 a8 - a3 - a17 - a10 -3 a x7 - x3 - x4 -7 x2 - a3 -5 a2 x2 -2 na -10 a x3 - a8 - a3
- a17 - aa - a5 -2 x a x7 - x3 - x4 -7 x2 -7 a - a2 x2 -2 na - a2 -d x4 - a8 - a3 - a29 x2 a x7 - x3 - x4 a -5 a3 x
-7 a3 x2 -2 na -a a6 -2 x2 - a12 -3 a18 - a9 - a -2 a7 -3 x -4 x6 - x - x8 -6 na -2 x2 -d s30 S s2 S7 -5 s7 S8 - na
-27 s2 - s - s5 - s18 - s - sa S s2 S9 s -2 s5 - s - S6 -2 na -2 s4 -20 a -17 x2 -6 na -b x - x - x -4 x2 a8 - a24
-4 x14 - x2 a5 xb - x24 -9 x -39 s2b S14 s na -6 s6 S4 s4 S3 s S3 s2 S7 s3 S4 sd Sc s S na S4 s2 a26 - a -5 a -2 a2b
- a14d - a4 -2 a7 - a - a4 -2 a29 - a4 -2 a21 - a4 -2 a7 - a - a4 -2 af - a39 - a4 -2 a43 -2 x3 -20 a10 -10 a56 -2
a6 -3 a26c -2 a11 - a1a -5 a4b -3 ab -7 ad - a4 x3 -b a12 x3 -b a12 x2 -c ad - a3 - x2 -c s34 S20 -3 s -4 s S -2 na
-21 x4 - na -6 a59 -7 a5 x2 a22 x a -5 a46 -a a1f - xc -4 xc -a na s1e -2 s5 -b s2c -4 s1a -6 na s -3 s2 -20 a17 x5
-4 s35 Sa - S1d -2 x na -6 na -6 se -2 xf -41 x5 a2f x11 a7 -4 na -11 x9 -c x3 a1e xd a2 na a2c xe -c a24 x14 -8 na
-3 a3 na a24 -2 a9 -7 a2b -2 a3 -10 x3 - x15 a4 x a6 x a2 x3 a -5 ac0 x3a - x5 a116 -2 a6 -2 a26 -2 a6 -2 a8 - a - a
- a - a1f -2 a35 - a7 - a -3 a3 - a7 -3 a4 -2 a6 -4 ad -5 a3 - a7 -f x z x2 -8 .2 -a . -2 : -2 x5 _ -c E -2 _2 -3 ,
-4 E -a _ -b x5 - xa - a -d a -10 ad -33 x13 k xd -11 a -4 a -2 aa - a -3 a5 -4 E - a - a - a - a4 - aa e -2 a4 -5
a5 -4 a -11 a29 -b E6 -f E2 -16f E2 -c E -5f E -46 E -19 Eb -4 E3 -bb ac e a27 -c0 E2 -a E -9 E -3a E4 - E6 - Ec -
E72 -a E76 -2 Eb - E - E -6 E -3 E -6 E -a E2 -f E -2 E -4 E - E -4 E3 - E -b E5 -2d E3 -9 E -e E -e E -174 E2 -1cf
E3 -13 E2 -33 E -4 E -aa a2f - a2f - a85 -6 a4 x3 a2 -c a26 - a -5 a -2 a38 -7 a -f x a17 -9 a7 - a7 - a7 - a7 - a7
- a7 - a7 - a7 - x20 -2f a -50 H1a - H59 -c Hd6 -2f a - H -19 H9 x6 E K5 -2 H3 a2 E -3 H56 -2 x2 K2 H3 K5b - K4 -5
a2b - a5e -11 a1b -35 K10 -97 E - E -36 K2f - K58 -a8 H19b6 -4a H51f0 -10 a48d -43 a2e -2 a10d -3 a10 na a2 -14 a2f
x4 - xa - a1f x2 a50 x2 -25 aa9 -2 a5 -30 ab x a3 x a4 x a17 x5 -18 a34 -c x2 a32 x12 -a na -6 x12 a6 -3 a - a2 x na
a1c x8 -2 a17 xd -c a1d -3 x4 a2f xe -e a na -6 s5 S sa na s5 - a29 xe -9 a3 x a8 x2 -2 na -6 s1b S3 s32 S s S3 s2
S2 s5 S2 s S s -18 s5 ab x5 -2 a3 x2 -a a6 -2 a6 -2 a6 -9 a7 - a7 - a38 -8 a73 x8 - x2 -2 na -6 a2ba4 -c a17 -4 a31
-2104 H16e -2 H6a -26 a7 -c a5 -5 h x ha - hd - h5 - h - h2 - h2 - ha a62 -21 a16b -12 a40 -2 a36 -28 ac -4 xe t f ,
-2 : , -b x10 -3 _2 -18 _3 , - . - , : -1a a5 - a87 -2 x -7 . -4 , - . - na : , -5 a1a -4 _ - a1a -b K38 x2 a1f -3
a6 -2 a6 -2 a6 -2 a3 -1c x3 -4 ac - a1a - a13 - a2 - af -2 ae -22 a7b -45 a35 -88 x -82 a1d -3 a31 -f x -1f a20 -d
a1e -5 a26 x5 -5 a1e -2 a24 -4 a8 - a5 -2a a9e -2 na -6 a24 -4 a24 -4 a28 -8 a34 -9c a137 -9 a16 -a a8 -98 a6 -2 a -
a2c - a2 -3 a -2 a17 -a a17 -9 a1f -41 a13 - a2 -a a16 -a a1a -46 a38 -6 a2 -40 a x3 - x2 -5 x4 a4 - a3 - a1d -2 x3
-4 x -20 a1d -3 a1d -23 a8 - a1c x2 -19 a36 -a a16 -a a13 -d a12 -6e a49 -37 a33 -d a33 -d a24 x4 -8 na -1c6 a1d -a
a -8 a16 xb -8f a17 -9 x3 a35 xf -1f na -f x4 a2d xb -2 x -f x -2 a19 -7 na -6 x3 a24 xe - na -4 a x2 -9 a23 x -2 a
-9 x3 a30 xe a4 -4 x4 -3 na a - a -23 a12 - a19 xc -6 x -41 a7 - a - a4 - af - aa -7 a2f xc -5 na -6 x4 - a8 -2 a2
-2 a16 - a7 - a2 - a5 - x2 a x7 -2 x2 -2 x3 -2 a -6 x -5 a5 x2 -2 x7 -3 x5 -8b a35 x12 a4 -5 na -4 x a -20 a30 x14
a2 - a -8 na -a6 a2f x7 -2 x9 -17 a4 x2 -22 a30 x11 -3 a -b na -26 a2b xd a -7 na -36 s1b -2 Sf -4 na s2 -3 s -c0
a2c xf -65 a40 na -15 a -a0 a8 -2 a27 x7 -2 x7 a - a x -1b a xa a28 x7 a x4 -8 x -8 a xb a2e x10 -3 a -22 a39 -107
a9 - a25 x8 - x8 a -f na -18 a1e -2 x16 - xe -49 a7 - a2 - a26 x6 -3 x - x2 - x7 a x -8 na -6 a6 - a2 - a20 x5 - x2
- x5 a -7 na -136 a13 x4 -109 a39a -66 a6f -11 ac4 -abc a42f - x9 -fc7 a247 -21b9 a239 -7 a1f - na -66 a1e -2 x5 -b
a30 x7 -9 a4 -c na -9 a15 -5 a13 -2b0 a40 -80 a4b -4 x a x37 -7 x4 ad -40 a2 - a -401c K H11e -31 H3 -11 K4 -a98 a6b
-5 ad -3 a9 -7 aa -3 x2 - x4 -14c1 x5 -3 x16 -2 x7 -1e x4 -94 x3 -1bb a55 - a47 - a2 -2 a -2 a2 -2 a4 - ac - a - a7
- a41 - a4 -2 a8 - a7 - a1c - a4 - a5 - a -3 a7 - a154 -2 a19 - a19 - a1f - a19 - a1f - a19 - a1f - a19 - a1f - a19
- a8 -2 n32 -200 x37 -4 x32 -8 x -e x -16 x5 - xf -550 x7 - x11 -2 x7 - x2 - x5 -d5 a2d -3 x7 a7 -2 na -4 a -171 a2c
x4 na -506 ac5 -b x7 -29 a44 x7 a -4 na -4a6 a4 - a1b - a2 - a -2 a - aa - a4 - a - a -6 a -4 a - a - a - a3 - a2 -
a -2 a - a - a - a - a - a2 - a -2 a4 - a7 - a4 - a4 - a - aa - a11 -5 a3 - a5 - a11 -144 E100 -d E3 -1f E a1a -6
a1a -2 E4 e2 ac e2 aa -4 E -2 Ea -12 E39 F1a H Ef -a E -14 E -2 E9 - E4 -9 E1b2 m5 E13e -8 E10a -30 E80 -74 Ec -55
E2b -c E4 -38 E8 -a E6 -28 E8 -1e E52 -c E2f - Ea - E6b7 -2 Ha6d7 -29 H1035 -b Hde -2 H1682 -e H1d31 -c1f H21e
-b05e3 x -1e g5f G -80 xf0 -2fe10
"""


@cache
def word_classes() -> str:
    """One letter per code point, which makes it a table for `str.translate`."""
    return "".join(run[0] * int(run[1:] or "1", 16) for run in _RUNS.split())
