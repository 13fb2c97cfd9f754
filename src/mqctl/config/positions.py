"""Read YAML with positions: safe, bounded, and with all duplicate keys listed.

PyYAML's event stream is used instead of its loader: events carry positions, need no recursion, and
an alias can be counted before it is expanded. The tree is built here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from mqctl.config.nodes import Item, Listing, Mapping, Node, Path, Scalar, Spot

MAX_BYTES = 1 << 20
MAX_NODES = 50_000
MAX_DEPTH = 32

# yaml.SafeLoader would do as well; the C parser is ten times faster, where it was built in.
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What YAML 1.1 and 1.2 call printable.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT_TAGS = {None, "!", "tag:yaml.org,2002:str"}
_MERGE = "<<"
_EMPTY = "the file is empty; `mqctl init` writes one to start from"
_TOO_DEEP = f"nested too deep; {MAX_DEPTH} levels are allowed"
_TOO_LARGE = f"too large with its aliases; {MAX_NODES} values are allowed"


class Mistake(Exception):
    """Something wrong at one place. ``path`` is where in the document, as far as it is known."""

    def __init__(self, spot: Spot, text: str, path: Path = ()) -> None:
        super().__init__(text)
        self.spot = spot
        self.text = text
        self.path = path


@dataclass(slots=True)
class Document:
    """A file that could be parsed. ``mistakes`` did not keep the rest from being read."""

    root: Mapping
    mistakes: list[Mistake] = field(default_factory=list)


def parse(raw: bytes) -> Document:
    """Parse a whole file.

    Raises:
        Mistake: nothing can be said about the rest: not UTF-8, a syntax error, too large, not a
            mapping at top level. Texts from the file are never repeated, they may be secrets.
    """
    text = _decode(raw)
    builder = _Builder()
    try:
        for event in _events(text):
            builder.feed(event)
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text) from None
    except yaml.YAMLError:
        raise Mistake(Spot(1, 1), "not readable as YAML; UTF-8 text is allowed") from None
    return builder.document()


def _events(text: str) -> Iterator[yaml.Event]:
    loader = _Loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _decode(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise Mistake(
            Spot(1, 1), f"the file is too large; at most {MAX_BYTES >> 20} MiB is allowed"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # ``start`` counts from behind the byte order mark, if the file has one.
        before = raw.removeprefix(b"\xef\xbb\xbf")[: error.start].decode(errors="replace")
        raise Mistake(_end_of(before), "not UTF-8; UTF-8 text is allowed") from None
    if not text.strip():
        raise Mistake(Spot(1, 1), _EMPTY)
    if bad := _UNPRINTABLE.search(text):
        code = f"U+{ord(bad.group()):04X}"
        raise Mistake(
            _end_of(text[: bad.start()]),
            f"the control character {code}; printable text is allowed",
        )
    return text


def _end_of(before: str) -> Spot:
    lines = before.split("\n")
    return Spot(len(lines), len(lines[-1]) + 1)


def _syntax(error: yaml.MarkedYAMLError, text: str) -> Mistake:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Mistake(Spot(1, 1), "not YAML")
    spot = Spot(mark.line + 1, mark.column + 1)
    if "nesting depth" in (error.problem or ""):
        return Mistake(spot, _TOO_DEEP)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    indent = line[: len(line) - len(line.lstrip())]
    if "\t" in indent:
        return Mistake(
            Spot(spot.line, indent.index("\t") + 1), "a tab in the indentation; use spaces"
        )
    # The parser's own sentences name characters and tokens, and at most an alias or a tag, which
    # stands in quotes: that could be a password that begins with * or !.
    problem = re.sub(r"\s*('[^']{2,}'|\"[^\"]{2,}\")", "", error.problem or "cannot be parsed")
    since = ""
    if error.context and error.context_mark and error.context_mark.line != mark.line:
        since = f" ({error.context} that begins at line {error.context_mark.line + 1})"
    return Mistake(spot, f"not YAML: {problem}{since}; check indentation, quotes and colons")


@dataclass(slots=True)
class _Frame:
    """A collection that is still open."""

    spot: Spot
    anchor: str | None
    items: list[Node] | None
    entries: dict[str, Item] = field(default_factory=dict)
    merged: list[Mapping] = field(default_factory=list)
    key: tuple[str, Spot] | None = None
    skip_value: bool = False

    @property
    def step(self) -> str | int | None:
        """The part of a path that leads to what comes next."""
        if self.items is not None:
            return len(self.items)
        return self.key[0] if self.key else None


class _Builder:
    """Turns events into nodes, one at a time."""

    def __init__(self) -> None:
        self._open: list[_Frame] = []
        self._anchors: dict[str, Node] = {}
        self._mistakes: list[Mistake] = []
        self._root: Node | None = None
        self._documents = 0
        self._merged = 0

    def feed(self, event: yaml.Event) -> None:
        """Take the next event."""
        mark = event.start_mark
        spot = Spot(mark.line + 1, mark.column + 1) if mark else Spot(1, 1)
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise Mistake(spot, "a second YAML document; one is allowed")
            case yaml.ScalarEvent():
                self._check_tag(event.tag, spot)
                # A plain scalar's style is empty in the C parser, and None in the other.
                quoted = bool(event.style) or event.tag is not None
                self._add(Scalar(spot, event.value, quoted), event.anchor)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event, spot)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end()
            case yaml.AliasEvent():
                self._add(self._aliased(event.anchor, spot), None)

    def document(self) -> Document:
        """The finished tree."""
        if self._root is None:
            raise Mistake(Spot(1, 1), _EMPTY)
        if not isinstance(self._root, Mapping):
            spot = self._root.spot
            raise Mistake(spot, "not a mapping at top level; `key: value` lines are allowed")
        return Document(self._root, self._mistakes)

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, spot: Spot) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise Mistake(spot, _TOO_DEEP)
        if event.tag not in {None, "!"}:
            self._note(spot, "a YAML tag; plain mappings and lists are allowed")
        listing = isinstance(event, yaml.SequenceStartEvent)
        self._open.append(_Frame(spot, event.anchor, [] if listing else None))

    def _end(self) -> None:
        frame = self._open.pop()
        inner = frame.items
        if inner is None:
            for source in frame.merged:
                for key, item in source.entries.items():
                    frame.entries.setdefault(key, item)
            inner = [item.node for item in frame.entries.values()]
        size = 1 + sum(node.size for node in inner)
        depth = 1 + max((node.depth for node in inner), default=0)
        if size > MAX_NODES:
            raise Mistake(frame.spot, _TOO_LARGE)
        if depth + len(self._open) > MAX_DEPTH + 1:
            raise Mistake(frame.spot, _TOO_DEEP)
        if frame.items is None:
            self._add(Mapping(frame.spot, frame.entries, size, depth), frame.anchor)
        else:
            self._add(Listing(frame.spot, frame.items, size, depth), frame.anchor)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        frame = self._open[-1]
        if frame.items is not None:
            frame.items.append(node)
        elif frame.key is None:
            self._add_key(frame, node)
        else:
            self._add_value(frame, node)

    def _add_key(self, frame: _Frame, node: Node) -> None:
        if not isinstance(node, Scalar):
            self._note(node.spot, "a key that is not text; text is allowed")
            frame.key, frame.skip_value = ("", node.spot), True
            return
        frame.key = (node.text, node.spot)
        merge = node.text == _MERGE and not node.quoted
        frame.skip_value = not merge and node.text in frame.entries
        if frame.skip_value:
            first = frame.entries[node.text].spot.line
            self._note(node.spot, f"the key is there twice, first at line {first}; once is allowed")
        if merge:
            frame.key = (_MERGE, Spot(0, 0))

    def _add_value(self, frame: _Frame, node: Node) -> None:
        assert frame.key is not None  # noqa: S101 - _add calls this for a value only
        text, spot = frame.key
        if text == _MERGE and spot.line == 0:
            self._merge(frame, node)
        elif not frame.skip_value:
            frame.entries[text] = Item(spot, node)
        frame.key, frame.skip_value = None, False

    def _merge(self, frame: _Frame, node: Node) -> None:
        sources = node.items if isinstance(node, Listing) else [node]
        for source in sources:
            if isinstance(source, Mapping):
                # Merging copies, so that a small file could fill the memory before its size shows.
                self._merged += len(source.entries)
                if self._merged > MAX_NODES:
                    raise Mistake(frame.spot, _TOO_LARGE)
                frame.merged.append(source)
            else:
                self._note(source.spot, "not a mapping; `<<` takes a mapping or a list of them")

    def _aliased(self, anchor: str | None, spot: Spot) -> Node:
        # The name is not repeated: an unquoted password may begin with an asterisk.
        if any(frame.anchor == anchor for frame in self._open):
            raise Mistake(spot, "an alias inside of what it names", self._path())
        if anchor is None or anchor not in self._anchors:
            raise Mistake(
                spot, "an alias whose anchor is not defined above; quote a text that begins with *"
            )
        return self._anchors[anchor]

    def _check_tag(self, tag: str | None, spot: Spot) -> None:
        if tag not in _TEXT_TAGS:
            self._note(spot, "a YAML tag; quote a text that begins with !")

    def _note(self, spot: Spot, text: str) -> None:
        self._mistakes.append(Mistake(spot, text, self._path()))

    def _path(self) -> Path:
        return tuple(step for frame in self._open if (step := frame.step) is not None)
