"""Shared fragments of crawls too large for one machine's memory: grouping on the engine.

In: the files of a crawl. Out: Parquet files with every place of every fragment, equal to the result
of ``quire.fragments.shared.crawl``, whose driver holds all parts of all pages.

# The steps

| step | module | work |
| --- | --- | --- |
| parts | ``crawl_steps`` | pages to packed parts, in files of *blocks* (row groups) |
| values | ``values`` | parts with equal text become one value with a list of its places |
| meetings | ``meetings`` | values that share a key and could match are linked; keys are the rarest shingles |
| components | ``components`` | linked values, by union-find on the driver |
| groups | ``grouping`` | the kernel groups the values of some components |
| places | ``places`` | every part gets the number of its group; pages of a group are counted |
| nesting | ``nesting`` | for each group, the distinct sets of groups around its members |
| decisions | ``decisions`` | the rule about ancestors, in the order of the groups |
| members | ``members`` | the places of the accepted groups, by fragment, page and part |

``listing`` reads the longest fragments from the files again.

# Why the result is the same

* A value is a leader, or joins the first leader that takes it. Both depend only on values that it
  can match, and those share a key and have a similar length (``meetings``). So components are
  independent, and the kernel may group each by itself. Of a large component, values go through the
  kernel in order, a portion at a time, together with the leaders that are still long enough.
* Whether a group is a fragment depends on the number of its pages and on the accepted groups around
  each of its members. These are among the groups around it that have enough pages. Members with
  the same set of such groups are treated alike, so one of them is enough for the driver. If no
  group is around some member, then the group is a fragment whatever the others are.

# Cost

Parts are shuffled twice, as 28 and 12 bytes each, the keys of distinct texts and the members of
fragments once, as 24 and 48 bytes. Rows of a shuffle hold many parts, because an engine may hold
the keys of all rows. Every step is linear in the parts, apart from sorting and from comparisons: up
to 64 values under a key with each other, and those of the kernel.

The driver holds 12 bytes for each distinct text, 20 for each page, 50 for each group on enough
pages, and the distinct sets around groups, 4 bytes for each entry. A task holds a bucket (some
megabytes), a component (about 500 bytes for each distinct text of it), or a fragment (about 150
bytes for each place).
"""
