"""The comparison of two sites covers the text for readers, and ignores the theme."""

from tools.zensical import Words, differences

PAGE = (
    "<title>Home</title><nav>Menu</nav><article><h1>It helps</h1><p>by <b>1.7x</b><br>today</p>"
    '<img alt="a map"><script>x()</script></article><footer>Foot</footer>'
)


def test_words_of_title_and_article_are_compared_and_differences_shown() -> None:
    old = Words(PAGE).found
    new = Words(PAGE.replace("today", "not yet")).found

    assert old == ["Home", "It", "helps", "by", "1.7x", "today", "a", "map"]
    assert list(differences(old, new)) == ["… helps by 1.7x [-today-] [+not yet+]"]
