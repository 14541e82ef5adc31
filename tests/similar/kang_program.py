"""The program of Kang's paper, line by line, and the layers it is given.

Names, order and arithmetic are the paper's; the Basic line stands beside each. ``A(i, j)`` past the end of a layer is
"", which Basic gives for an array element that was never set.
"""

from __future__ import annotations

from quire import Digest

Layers = list[list[str]]


def special_tag(T: str) -> bool:
    # If T = "TABLE" Or T = "TR" Or T = "TD" Or T = "DIV" Or T = "SPAN" Then
    return T in {"TABLE", "TR", "TD", "DIV", "SPAN"}


def program(a: Layers, b: Layers, D: int) -> float:
    """Function Q(D)."""

    def A_T(i: int) -> int:
        return len(a[i - 1]) if i <= len(a) else 0

    def B_T(i: int) -> int:
        return len(b[i - 1]) if i <= len(b) else 0

    def A(i: int, j: int) -> str:
        return a[i - 1][j - 1] if j <= A_T(i) else ""

    def B(i: int, j: int) -> str:
        return b[i - 1][j - 1] if j <= B_T(i) else ""

    P = 0.0  # P = 0
    for i in range(1, D + 1):  # For i = 1 To D
        T = A_T(i)  # T = A_T(i)
        if B_T(i) > T:  # If B_T(i) > T Then
            T = B_T(i)  # T = B_T(i)
        # End If
        Ek = 0  # Ek = 0
        Ej = 0  # Ej = 0
        for j in range(1, T + 1):  # For j = 1 To T
            if A(i, j) != B(i, j):  # If A(i, j) <> B(i, j) Then
                if special_tag(A(i, j)) or special_tag(B(i, j)):  # If SpecialTag(...) Then
                    Ek = Ek + 2  # Ek = Ek + 2
                else:  # Else
                    Ek = Ek + 1  # Ek = Ek + 1
                # End If
            # End If
            if special_tag(A(i, j)) or special_tag(B(i, j)):  # If SpecialTag(...) Then
                Ej = Ej + 2  # Ej = Ej + 2
            else:  # Else
                Ej = Ej + 1  # Ej = Ej + 1
            # End If
        # Next
        if T > 0:  # If T > 0 Then
            W = (D - i + 1) / D  # W = (D - i + 1) / D
            P = P + ((Ek / Ej) / D) * W  # P = P + ((Ek / Ej) / D) * W
        # End If
    # Next
    return 1 - P  # Q = 1 - P


def layers(page: Digest) -> Layers:
    """The elements of each layer below the body; below the root element where there is none."""
    children: dict[int, list[int]] = {}
    names = [page.tag_names[tag] for tag in page.tag.tolist()]
    for node, parent in enumerate(page.parent.tolist()):
        if not names[node].startswith("#"):
            children.setdefault(parent, []).append(node)
    root = children.get(0, [0])[0]
    bodies = [node for node in children.get(root, []) if names[node].lower() == "body"]
    layer = children.get(bodies[0] if bodies else root, [])
    found = []
    while layer:
        # The paper's browser has names in capitals.
        found.append([names[node].encode().upper().decode() for node in layer])
        layer = [child for node in layer for child in children.get(node, [])]
    return found
