"""Assertions that reach for what is not theirs, or that cost without end, by the text they must end with.

Each section begins with `# ` and a part of the expected message; a line is one assertion.
"""

_REACHING = r"""
# is not allowed in an assertion
().__class__.__base__.__subclasses__()
().__class__.__bases__[0].__subclasses__()
().__class__.__mro__[1].__subclasses__()
''.__class__.__mro__
[].__class__.__base__
str.__subclasses__()
str.mro()
str.__mro__
str.__base__
str.__dict__
str.__class__
str.__class__.__class__
int.__class__('X', (), {})
dict.__class__
None.__class__.__class__
re.Pattern.__class__
re.Match.__class__
len.__class__
len.__self__
len.__module__
len.__call__
any.__self__.open
all.__self__.__import__('os')
len.__self__.eval('1')
output.lower.__self__
output.lower.__call__()
output.lower.__class__
output.lower.__reduce__()
output.__reduce__()
output.__reduce_ex__(4)
output.__init_subclass__()
output.__dir__()
output.__getattribute__('lower')
output.__format__('')
output.__add__('x')
output.__mod__('x')
output.__class__.__init__
output.__class__.__new__
output.__class__.__getattribute__(output, '__class__')
output.__doc__.__class__.__class__
output.__init__.__globals__
output.__sizeof__()
outcome.__setitem__('a', 1)
outcome.__or__({})
outcome.__class_getitem__(int)
list.__class_getitem__(int)
list.__init__.__objclass__
dict.fromkeys.__self__
dict.fromkeys.__class__
str.lower.__objclass__
str.lower.__get__('x')
str.maketrans.__self__
int.from_bytes.__self__
(lambda: 0).__globals__
(lambda: 0).__code__
(lambda: 0).__closure__
(lambda: 0).__builtins__
(lambda: 0).__defaults__
(lambda: 0).__dict__
(lambda: 0).__class__
(lambda: 0).__call__()
(lambda: 0).__get__(1)
(lambda: 0).__code__.replace(co_code=b'')
(lambda: 0).func_globals
(x for x in [1]).gi_frame
(x for x in [1]).gi_frame.f_back
(x for x in [1]).gi_frame.f_globals
(x for x in [1]).gi_frame.f_builtins
(x for x in [1]).gi_code
(x for x in [1]).gi_code.co_consts
(x for x in [1]).gi_yieldfrom
(x for x in [1]).gi_running
(x for x in [1]).gi_suspended
(x for x in [1]).send(None)
(x for x in [1]).throw(ValueError)
(x for x in [1]).close()
(x for x in [1]).__class__
(x for x in [1]).__del__()
(g := (g.gi_frame for x in [1]))
[].__iter__().__class__
[].__iter__().__reduce__()
[].__iter__().__length_hint__()
{}.keys().mapping
{}.items().mapping
{}.values().mapping
{}.keys().__class__
{}.keys().mapping.__class__
re.__class__
re.__dict__
re.__loader__
re.__spec__
re.__builtins__
re.__file__
re.__package__
re.error
re.template('a')
re.purge()
re.RegexFlag
re.RegexFlag.__class__
re.RegexFlag.__class__._convert_
re.RegexFlag._member_map_
re.RegexFlag._value2member_map_
re.I.__class__
re.I.__class__.__class__._convert_
re.I._value_
re.I._name_
re.I._missing_
re.I._generate_next_value_
re.I.__objclass__
re.I.IGNORECASE
re.I.bit_length()
re.I.to_bytes(1, 'big')
re.I.from_bytes(b'')
re.I.__len__()
re.search.__globals__
re.search.__globals__['_compiler']
re.search.__code__
re.search.__builtins__
re.search.__module__
re.search.__wrapped__
re.compile.__globals__
re.compile.__defaults__
re.sub.__globals__['enum']
re.sub.__kwdefaults__
re.escape.__globals__
re.compile('a').scanner('a')
re.compile('a').scanner('a').pattern
re.compile('a').__class_getitem__(str)
re.compile('a').__copy__()
re.compile('a').__deepcopy__({})
re.compile('a').__class__.__class__
re.compile('a').search.__self__
re.compile('a').search.__class__
re.search('a', 'a').regs
re.search('a', 'a').__class__.__base__
re.search('a', 'a').__copy__()
re.search('a', 'a').group.__self__
int.real
int.__index__
(1).__class__.__base__
(1).__index__()
(1.5).__getformat__('double')
float.__getformat__('double')
float.__setformat__('double', 'unknown')
True.__class__.__bases__
(1j).__complex__()
b''.__class__.__base__
b''.__bytes__()
{1}.__class__.__base__
(...).__class__.__base__
None.__class__.__base__
None.__init__
[x.__class__.__base__ for x in [1]]
{x: x.__globals__ for x in [len]}
[f for f in [re.search] if f.__globals__]
(lambda f: f.__globals__)(re.search)
(lambda f=re.search: f.__code__)()
[*[str.__subclasses__()]]
{**str.__dict__}
f'{str.__subclasses__()}'
f'{output.__class__.__base__!r:>9}'
f'{1:{len.__self__}}'
False or str.__subclasses__()
any(x.__subclasses__() for x in [str])
list(x.gi_frame for x in [(y for y in [1])])
# is not allowed in a format
'{0.__class__}'.format(output)
'{0.real}'.format(1)
'{.__class__}'.format(output)
'{a.__class__.__base__}'.format(a=1)
'{0[0].__class__}'.format([1])
'{0:{1.__class__}}'.format(1, 2)
'{0!r:>{1.real}}'.format(1, 2)
'{0.__globals__}'.format(re.search)
'{0.__self__}'.format(len)
'{0.gi_frame}'.format((x for x in [1]))
'{a.__init__.__globals__}'.format_map({'a': re.search})
'{output.__class__}'.format_map({'output': output})
str.format('{0.__class__}', 1)
str.format_map('{a.__class__}', {'a': 1})
(lambda f: f('{0.__class__}', 1))(str.format)
(lambda f: f(1))('{0.__class__}'.format)
re.sub('a', '{0.re}'.format, 'a')
['{0.__class__}'].sort(key=lambda t: t.format(1))
['{.__class__}', 'b'].sort(key='{0.__class__}'.format)
''.join(t.format(1) for t in ['{0.real}'])
('{0' + '.real}').format(1)
'{0[a].real}'.format({'a': 1})
# is not allowed in an assertion; write `utf-8`
output.encode('idna')
output.encode('punycode')
output.encode('mbcs')
output.encode('rot13')
output.encode('os')
output.encode(encoding='encodings.idna')
output.encode('../x')
b'a'.decode('zlib_codec')
b'a'.decode('hex')
b'a'.decode(encoding='bz2')
str(b'a', 'unittest')
str(b'a', encoding='antigravity')
b''.__class__('a', 'this')
b''.__class__.decode(b'a', 'x')
(lambda f: f(b'a', 'idna'))(str)
str.encode('a', 'cp65001')
# takes no `[…]` in an assertion
list[int]
dict[str, int]
().__class__[int]
{1}.__class__[int]
re.Pattern[str]
re.Match[str]
(lambda t: t[0])(list)
# types cannot be joined by `|`
str | int
str | None
None | int
(lambda t: t | t)(dict)
# cannot be called in an assertion
None.__class__()
(...).__class__()
re.Pattern()
re.Match()
# does not exist here
__builtins__
__debug__
__import__('os')
__name__
__loader__
eval('1')
exec('1')
compile('1', '', 'eval')
open('/etc/passwd')
getattr(output, '__class__')
setattr(output, 'a', 1)
vars()
globals()
locals()
type(output)
object()
super()
breakpoint()
input()
exit()
memoryview(b'')
print(output)
dir(output)
# is not allowed in an assertion
(yield)
(lambda: (yield))()
(lambda: (yield from [1]))()
(lambda: await_(1)) if (yield) else 1
# a loop in an assertion binds names
[0 for outcome['a'] in [1]]
[0 for errors[0] in [1]]
[0 for output.x in [1]]
[0 for a, outcome['a'] in [(1, 2)]]
{0 for (re.search) in []} or [0 for re.x in [1]]
# not a Python expression
[x := 1 for x in [1]]
[y for y in (z := [1])]
[1 for a in [1] for b in (c := [1])]
[[(a := 1) for b in [1]] for a in [1]]
(lambda x, x: 1)(1, 2)
dict(a=1, a=2)
(lambda __debug__: 1)(1)
dict(__debug__=1)
[0 for __debug__ in [1]]
f'{*errors}'
[0 for *a in [[1]]]
[0 for *a, *b in [[1]]]
import os
del output
output = 1
output; 1
async def f(): pass
"""

_COSTLY = r"""
# a number of more than 300,000 digits
10 ** 10 ** 9
2 ** 2 ** 2 ** 2 ** 2 ** 2
(-3) ** 10 ** 7
True * 9 ** 9 ** 9
1 << 10 ** 9
1 << 2 ** 62
-1 << 10 ** 8
(1 << 2 ** 19) * (1 << 2 ** 20)
(1 << 2 ** 20 - 2) ** 2
[x := 3, *[x := x * x for i in output * 20]]
(lambda f: f(f, 7, 40))(lambda f, x, n: x if n == 0 else f(f, x * x, n - 1))
re.I ** 10 ** 9
re.M << 10 ** 9
# it needs more than the allowed memory
'a' * 10 ** 12
10 ** 12 * 'a'
[0] * 10 ** 11
(0,) * 10 ** 11
b'a' * 10 ** 12
(output * 1000) * 10 ** 9
[output] * (10 ** 10)
b''.__class__(10 ** 12)
((1, 2) * 10 ** 6) * 10 ** 6
# it calls itself without end or is nested too deeply
(lambda f: f(f))(lambda f: f(f))
(lambda f: f(f))(lambda f: [f(f)])
(lambda f: f(f))(lambda f, any=any: any(f(f) for x in [1]))
(lambda f: f(f))(lambda f, list=list: list(f(f) for x in [1]))
(f := lambda: f()) and (lambda g: g(g))(lambda g: g(g))
(lambda f: f(f))(lambda f, re=re: re.sub('a', lambda m: f(f), 'a'))
(lambda f: f(f))(lambda f, p=re.compile('a'): p.sub(lambda m: f(f), 'aaa'))
(lambda f: f(f))(lambda f: [3].sort(key=lambda x: f(f)))
# OverflowError
'x' * 10 ** 20
[0] * 2 ** 70
2.0 ** 10 ** 4
int(1e308 * 10)
# ValueError
str(10 ** 5000)
f'{10 ** 5000}'
int('9' * 5000)
'%d' % 10 ** 5000 or '%d' % (10 ** 5000)
"""

NESTED = (
    ("(" * 5_000 + "1" + ")" * 5_000, "too many nested parentheses"),
    ("[" * 150 + "]" * 150, "too many nested parentheses"),
    ("[x for x in " * 101 + "[]" + "]" * 101, "too many nested parentheses"),
    ("{1: " * 120 + "1" + "}" * 120, "too many nested parentheses"),
    ("f(" * 120 + "1" + ")" * 120, "too many nested parentheses"),
    ("-" * 90_000 + "1", "nested too deeply"),
    ("not " * 20_000 + "1", "nested too deeply"),
    ("~" * 50_000 + "1", "nested too deeply"),
    ("lambda: " * 10_000 + "1", "nested too deeply"),
    ("output" + ".lower()" * 10_000, "nested too deeply"),
    ("output" + "[0]" * 20_000, "nested too deeply"),
    ("1" + " + 1" * 20_000, "nested too deeply"),
    ("1 if 1 else " * 8_000 + "1", "nested too deeply"),
    ("1" + "**1" * 20_000, "nested too deeply"),
    ("1 " * 60_000, "longer than 100,000 characters"),
    ("'" + "a" * 100_000 + "'", "longer than 100,000 characters"),
)
"""What is refused while it is read, or before."""


def _table(written: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    expected = ""
    for line in written.strip().splitlines():
        if line.startswith("# "):
            expected = line[2:]
        else:
            found.append((line, expected))
    return found


REACHING = _table(_REACHING)
COSTLY = [*_table(_COSTLY), *NESTED]
