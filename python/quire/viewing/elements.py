"""The allow-list: which elements and attributes of a stranger's page are written.

All others are left out. Names in these tables are as the parser spells them, with small letters in
HTML and as in the standards in SVG and MathML.
"""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


# Elements of HTML that are written under their own name.
KEPT = words(
    """
    a abbr acronym address area article aside b bdi bdo big blockquote body br button caption center
    cite code col colgroup data dd del details dfn dialog dir div dl dt em fieldset figcaption figure
    font footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i img input ins kbd label legend li
    main map mark menu meter nav nobr ol optgroup option output p picture pre progress q rb rp rt rtc
    ruby s samp search section select small source span strike strong sub summary sup table tbody td
    textarea tfoot th thead time title tr tt u ul var video audio wbr frameset frame iframe
    """
)

# Elements that are left out with everything in them.
DROPPED = words(
    """
    applet base basefont bgsound canvas datalist embed noembed noframes param
    script template track
    """
)

# Elements with behaviour, and those that replace them.
REPLACED = {
    "image": "img",
    "listing": "pre",
    "marquee": "div",
    "object": "span",  # its content is shown if it cannot be loaded
    "plaintext": "pre",
    "xmp": "pre",
}

VOID = frozenset(
    {"area", "br", "col", "frame", "hr", "img", "input", "link", "meta", "source", "wbr"}
)

SVG = words(
    """
    svg a circle clipPath defs ellipse feBlend feColorMatrix feComponentTransfer feComposite
    feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA
    feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight
    feSpecularLighting feSpotLight feTile feTurbulence filter g image line linearGradient marker mask
    path pattern polygon polyline radialGradient rect stop style switch symbol text textPath title
    tspan use view
    """
)

MATH = words(
    """
    math menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot
    mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none
    semantics
    """
)

# Attributes of every element.
_COMMON = words("class dir hidden id lang role title")

_HTML_ATTRIBUTES = words(
    """
    abbr align alink alt bgcolor border bordercolor cellpadding cellspacing char charoff checked clear
    color cols colspan compact coords datetime disabled face for frame frameborder headers height high
    hspace kind label link loop low marginheight marginwidth max maxlength media min multiple name
    noshade nowrap open optimum placeholder readonly reversed rows rowspan rules scope scrolling
    selected shape size sizes span start summary text type valign value vlink vspace width wrap
    """
)

_SVG_ATTRIBUTES = words(
    """
    alignment-baseline amplitude azimuth baseFrequency baseline-shift bias clip-path clip-rule
    clipPathUnits color color-interpolation color-interpolation-filters cx cy d diffuseConstant
    direction display divisor dominant-baseline dx dy edgeMode elevation exponent fill fill-opacity
    fill-rule filter filterUnits flood-color flood-opacity font-family font-size font-stretch
    font-style font-variant font-weight fr fx fy gradientTransform gradientUnits height in in2
    intercept k1 k2 k3 k4 kernelMatrix kernelUnitLength lengthAdjust letter-spacing lighting-color
    limitingConeAngle marker-end marker-mid marker-start markerHeight markerUnits markerWidth mask
    maskContentUnits maskUnits mode numOctaves offset opacity operator order orient overflow
    paint-order pathLength patternContentUnits patternTransform patternUnits points pointsAtX
    pointsAtY pointsAtZ preserveAlpha preserveAspectRatio primitiveUnits r radius refX refY result
    rotate rx ry scale seed shape-rendering slope spacing specularConstant specularExponent
    spreadMethod startOffset stdDeviation stitchTiles stop-color stop-opacity stroke stroke-dasharray
    stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width
    surfaceScale tableValues targetX targetY text-anchor text-decoration text-rendering textLength
    transform transform-origin type values vector-effect version viewBox visibility width word-spacing
    writing-mode x x1 x2 xChannelSelector y y1 y2 yChannelSelector z
    """
)

_MATH_ATTRIBUTES = words(
    """
    accent accentunder align bevelled close columnalign columnlines columnspacing columnspan depth
    display displaystyle fence form frame height largeop linethickness lspace mathbackground mathcolor
    mathsize mathvariant maxsize minsize movablelimits notation open rowalign rowlines rowspacing
    rowspan rspace scriptlevel separator separators stretchy symmetric voffset width
    """
)

ATTRIBUTES = {
    "html": _COMMON | _HTML_ATTRIBUTES,
    "svg": _COMMON | _SVG_ATTRIBUTES,
    "math": _COMMON | _MATH_ATTRIBUTES,
}

# Attributes of SVG that may have `url()` in them.
PAINTED = words("clip-path fill filter marker-end marker-mid marker-start mask stroke")

INPUTS = words(
    """
    button checkbox color date datetime-local email hidden image month number password radio range
    reset search submit tel text time url week
    """
)

# Attributes for style sheets and screen readers, which no browser acts on by itself.
_FREE_ATTRIBUTE = re.compile(r"(?:aria|data)-[a-z0-9_.-]{1,80}", re.ASCII)
_CUSTOM_ELEMENT = re.compile(r"[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){1,6}", re.ASCII)


def written_name(name: str, namespace: str) -> str | None:
    """Return the name of the element to write; None to leave it out with everything in it.

    >>> [written_name(name, "html") for name in ("p", "script", "x-card", "blink")]
    ['p', None, 'x-card', 'span']
    >>> written_name("svg:path", "svg"), written_name("svg:foreignObject", "svg")
    ('path', None)
    """
    if namespace == "svg":
        bare = name.removeprefix("svg:")
        return bare if bare in SVG else None
    if namespace == "math":
        bare = name.removeprefix("math:")
        return bare if bare in MATH else None
    if namespace != "html" or name in DROPPED:
        return None
    if name in KEPT or _CUSTOM_ELEMENT.fullmatch(name):
        return name
    return REPLACED.get(name, "span")


def is_allowed(attribute: str, namespace: str) -> bool:
    """Tell whether an attribute is written with its value as it is.

    >>> is_allowed("data-price", "html"), is_allowed("onclick", "html"), is_allowed("href", "html")
    (True, False, False)
    """
    return attribute in ATTRIBUTES[namespace] or bool(_FREE_ATTRIBUTE.fullmatch(attribute))
