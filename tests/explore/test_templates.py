"""Templates: what their syntax makes, how it is counted and sampled, and where mistakes are told."""

import random
import re
import tracemalloc
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from dynamicprompts.generators import CombinatorialPromptGenerator
from dynamicprompts.wildcards import WildcardManager
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reelbook.errors import InvalidInput, InvalidTemplate
from reelbook.explore import designs
from reelbook.explore.templates import Template, escaped, is_plain
from reelbook.lazy_module import LazyModule

stats: Any = LazyModule("scipy.stats")

WILDCARDS = {
    "animal": ["fox", "hen"],
    "beast": ["a __animal__", "{red|blue} cow"],
    "colours/warm": "red\n# no\n\n2::pink",
    "size": ["a", "", 3],
}

# Each variable holds the one before it twice.
GROWING = "".join(
    ["${a=0123456789}", *(f"${{{b}=${{{a}}}${{{a}}}}}" for a, b in pairwise("abcdefghijklmnop")), "${p}"]
)


def sample(template: Template, size: int, seed: int = 0) -> list[str]:
    places = designs.sample(
        [template.count], size, seed, draw_first=template.draw, key=lambda place: template.expand(place[0])
    )
    return [template.expand(place[0]) for place in places]


def everything(text: str, **slots: str) -> list[str]:
    template = Template(text, WILDCARDS)
    return [template.expand(number, slots) for number in range(template.count)]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a {b|c} d", ["a b d", "a c d"]),
        ("{ a | b {c|d} }", ["a", "b c", "b d"]),
        ("a {|red} fox", ["a fox", "a red fox"]),
        ("{0.5::a|2::b}", ["a", "b"]),
        ("{a::b|c}", ["a::b", "c"]),
        ("{ratio 16::9|c}", ["ratio 16::9", "c"]),
        (r"{\-1::a|b}", [r"\-1::a", "b"]),
        ("-1::a", ["-1::a"]),
        ("{a|b|a}", ["a", "b"]),
        ("{2$$a|b|c}", ["a, b", "a, c", "b, c"]),
        ("{1-2$$ and $$a|b}", ["a", "b", "a and b"]),
        ("{2-$$ $$a|b|c}", ["a b", "a c", "b c", "a b c"]),
        ("{-2$$+$$a|b}", ["a", "b", "a+b"]),
        ("{0-1$$a}!", ["!", "a!"]),
        ("{1-9$$+$$a|b}", ["a", "b", "a+b"]),
        ("{1-2$$+$$a|{b|c}}", ["a", "b", "c", "a+b", "a+c"]),
        ("__animal__!", ["fox!", "hen!"]),
        ("{2$$__animal__}", ["fox, hen"]),
        ("__beast__", ["a fox", "a hen", "red cow", "blue cow"]),
        ("__colours/warm__", ["red", "pink"]),
        ("__size__.", ["a.", ".", "3."]),
        ("${x=!{a|b}}${x} and ${x}", ["a and a", "b and b"]),
        ("${x={a|b}}${x} and ${x}", ["a and a", "a and b", "b and a", "b and b"]),
        ("${x=!__animal__}${y=!the ${x}}${y}, ${y}", ["the fox, the fox", "the hen, the hen"]),
        ("{the {place}|here}", ["the moor", "here"]),
        ("{a place}, {A place}", ["a moor, A moor"]),
        ("{A {|old} {place} at dawn}", ["A moor at dawn", "An old moor at dawn"]),
        ("{an __animal__} and {a {place} hen}", ["a fox and a moor hen", "a hen and a moor hen"]),
        ("{a fox|an owl}", ["a fox", "an owl"]),
        (r"\{a\|b\} \__animal\__ \$\{x\} \# \\", ["{a|b} __animal__ ${x} # \\"]),
        (r"{a\|b|c\:\: 2\$\$|3\::d}", ["a|b", "c:: 2$$", "3::d"]),
        (r"C:\new {a|b}", [r"C:\new a", r"C:\new b"]),
        ("100% wool for 5$$ {a|b}", ["100% wool for 5$$ a", "100% wool for 5$$ b"]),
        ("a | b :: c $5 snake_case snake__case 50%", ["a | b :: c $5 snake_case snake__case 50%"]),
        ("# all of it\na {b|c} # the rest\nin snow", ["a b\nin snow", "a c\nin snow"]),
        ("a\n  # aside\n{b|c}", ["a\nb", "a\nc"]),
        ("our #1 {a|b} in #ff0000", ["our #1 a in #ff0000", "our #1 b in #ff0000"]),
        ("{\n  a # first\n| b\n}", ["a", "b"]),
        ("", [""]),
    ],
)
def test_what_a_template_makes(text: str, made: list[str]) -> None:
    """All its combinations, in their order."""
    assert everything(text, place="moor") == made


@pytest.mark.parametrize(
    ("text", "position", "told"),
    [
        ("a {b|c", 2, "isn't closed"),
        ("a {b|{c|d}", 2, "isn't closed"),
        ("a b} c", 3, "closes nothing"),
        ("a\n{b|c}}", 7, "line 2, character 6"),
        ("a {animal}", 2, r"Nothing fills \{animal\}"),
        ("a __nope__", 2, "no wildcard nope"),
        ("__round__", 0, "leads back to itself"),
        ("__empty__", 0, "has no values"),
        ("a __broken__", 2, "Value 2 of the wildcard broken can't be read"),
        ("a __slotted__", 2, r"Nothing fills \{who\}"),
        ("__setting__", 0, "Variables are set in the template itself"),
        ("{}", 0, "braces are empty"),
        ("a {red fox}", 2, "A slot is one name"),
        ("{a red fox}", 0, "A slot is one name"),
        ("{3$$a|b}", 0, "It picks 3 of 2 options"),
        ("{2-1$$a|b}", 0, "the wrong way round"),
        ("{0::a|b}", 1, "A weight must be more than 0"),
        ("{nan::a|b}", 1, "A weight is a number above 0"),
        ("{-1::a|b}", 1, "A weight is a number above 0"),
        ("a {-1::x}", 3, "A weight is a number above 0"),
        ("{1,5::a|b}", 1, "A weight is a number above 0"),
        ("{12345678901::a|b}", 1, "A weight is a number above 0"),
        ("a __weighed__", 2, "Value 1 of the wildcard weighed can't be read"),
        ("{2$$__crowd__}", 0, "It picks up to 2 of 600,000 options: too many"),
        ("${x}", 0, "The variable x isn't set before this"),
        ("${x=!a}${x=!b}", 7, "set twice"),
        ("{${x=!a}|b}", 1, "outside of braces"),
        ("${x=!a|b}", 6, "braces of its own"),
        ("${x=!a", 0, "isn't closed"),
        ("${1}", 0, "A variable is written as"),
        ("{" * 60 + "a|b" + "}" * 60, 50, "nested too deeply"),
        ("{900-$$__many__}", 0, "too many"),
        (GROWING, 0, "longer than"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, position: int, told: str) -> None:
    """Before anything else is done; the place is where the mistaken part begins."""
    wildcards = {
        "round": ["a __round__"],
        "empty": "# nothing\n",
        "broken": ["fine", "not {fine"],
        "slotted": ["{who}"],
        "setting": ["${x=!a}"],
        "many": map(str, range(2000)),
        "weighed": ["-1::a"],
        "crowd": map(str, range(600_000)),
    }
    with pytest.raises(InvalidTemplate, match=told) as raised:
        Template(text, wildcards).expand(0)
    assert raised.value.position == position
    assert isinstance(raised.value, InvalidInput)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a fox, 5$$, 100% #1", True),
        ("", True),
        ("a {b|c}", False),
        ("{a}", False),
        ("{a", False),
        (r"\{", False),
    ],
)
def test_plain_text_is_told_from_templates(text: str, plain: bool) -> None:
    """What would come out as it is, is plain; what can't be read is not."""
    assert is_plain(text) is plain


@given(st.text(st.sampled_from("\\{}|#$_:!= -ab\n")))
def test_escaped_text_stands_for_itself(text: str) -> None:
    """Whatever it holds, by itself and as an option."""
    assume(text == text.strip())
    assert Template(escaped(text)).expand(0) == text
    assert Template(f"{{1$${escaped(text)}|x{escaped(text)}}}").expand(0) == text


def numbered(text: str) -> str:
    """The template with each word made unique, so that no two combinations can be equal."""
    numbers = iter(range(10_000))
    return re.sub(r"\bword\b", lambda _: f"word{next(numbers)}", text)


WORDS = st.recursive(
    st.just("word"),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.lists(inner, min_size=2, max_size=4).map(lambda each: f"{{{'|'.join(each)}}}"),
        st.lists(inner, min_size=2, max_size=4).map(lambda each: f"{{ 0.5::{' | 2::'.join(each)} }}"),
    ),
    max_leaves=8,
)
PICKS = st.integers(0, 3).flatmap(
    lambda least: st.tuples(st.just(least), st.integers(max(1, least), 3), st.integers(3, 4))
)


def oracle(text: str, limit: int) -> list[str]:
    manager = WildcardManager(root_map={"": [{"animal": ["fox", "{red|blue} hen"]}]})
    return [" ".join(each.split()) for each in CombinatorialPromptGenerator(manager).generate(text, limit)]


@pytest.mark.filterwarnings("ignore:.* deprecated - use:DeprecationWarning")
@settings(max_examples=30)
@given(WORDS.map(numbered), st.sampled_from(["", " __animal__", " # aside\n", "${v={x|y}} ${v} ${v}"]))
def test_dynamicprompts_makes_the_same(text: str, ending: str) -> None:
    """Each number another text: with nesting, weights, wildcards, comments and variables chosen anew."""
    template = Template(text + ending, {"animal": ["fox", "{red|blue} hen"]})
    assume(template.count <= 200)
    made = [" ".join(template.expand(number).split()) for number in range(template.count)]

    assert len(set(made)) == len(made)
    assert sorted(made) == sorted(oracle(text + ending, 1000))


@pytest.mark.filterwarnings("ignore:.* deprecated - use:DeprecationWarning")
@settings(max_examples=20)
@given(PICKS)
def test_dynamicprompts_makes_the_same_sets(picks: tuple[int, int, int]) -> None:
    """It makes each pick in every order, where a set is enough."""
    least, most, options = picks
    text = f"{{{least}-{most}$$ and $${'|'.join('abcd'[:options])}}}"
    template = Template(text)
    made = [template.expand(number) for number in range(template.count)]

    assert len(made) == len(set(made))
    assert {frozenset(each.split(" and ")) for each in made} == {
        frozenset(each.split(" and ")) for each in oracle(text, 1000)
    }


def test_weights_say_how_often() -> None:
    """In a choice, in picks, in wildcards and in a variable; without weights all are equally likely."""
    rng = random.Random(5)
    likely: dict[str, dict[str, float]] = {
        "{a|{b|{c|d}}|{2$$e|f|g}}": dict.fromkeys(["a", "b", "c", "d", "e, f", "e, g", "f, g"], 1),
        "{3::a|b}": {"a": 3, "b": 1},
        "{0.5::a|{b|c}}": {"a": 1, "b": 1, "c": 1},
        "{{b|c}|2::a}": {"a": 4, "b": 1, "c": 1},
        "${x=!{4::a|b}}${x}": {"a": 4, "b": 1},
        "__w__": {"a": 9, "b": 1},
        # A pick of two: the first by weight, the second by the weights that are left.
        "{2$$+$$2::a|b|c}": {"a+b": 5 / 12, "a+c": 5 / 12, "b+c": 1 / 6},
    }
    for text, weights in likely.items():
        template = Template(text, {"w": ["9::a", "b"]})
        seen = Counter(template.expand(template.draw(rng)) for _ in range(3000))
        assert seen.keys() == weights.keys()
        expected = [3000 * weight / sum(weights.values()) for weight in weights.values()]
        assert stats.chisquare([seen[each] for each in weights], expected).pvalue > 0.001, text


def test_a_sample_ends_where_weights_or_texts_leave_nothing_new() -> None:
    """What is hardly ever drawn comes last, and equal texts are one."""
    assert set(sample(Template("{100000::a|b|c}"), 3)) == {"a", "b", "c"}
    assert sorted(sample(Template("{a|ab}{bc|c}"), 4)) == ["abbc", "abc", "ac"]


def test_a_long_list_of_values_is_counted_without_being_read_one_by_one() -> None:
    """Lists of tags have hundreds of thousands of lines, of which a sweep takes a few."""
    text = "\n".join(f"long_tag {number}" for number in range(50_000))
    tracemalloc.start()
    template = Template("a __tag__", {"tag": text})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert template.count == 50_000
    assert template.expand(49_999) == "a long_tag 49999"
    assert len(sample(template, 20)) == 20
    assert most < 16_000_000
