"""What processes leave for the `tilesight run` that they belong to."""

import os

from tilesight import wire


def notes(folder):
    return [value for kind, value in wire.read(str(folder)) if kind == "note"]


def test_processes_follow_one_another_as_they_started(tmp_path):
    first, second = wire.Wire(str(tmp_path)), wire.Wire(str(tmp_path))
    second.note("second's first")
    first.note("first's first")  # started sooner, said something later
    second.note("second's last")
    assert notes(tmp_path) == ["first's first", "second's first", "second's last"]


def test_a_forked_child_follows_its_parent_and_has_a_file_of_its_own(tmp_path):
    parent = wire.Wire(str(tmp_path))
    parent.note("before")
    if (child := os.fork()) == 0:
        status = 1
        try:
            parent.note("child")
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    parent.note("after")
    assert notes(tmp_path) == ["before", "after", "child"]


def test_folders_inside_are_read_too_in_one_order(tmp_path):
    inside = tmp_path / "pytest"
    inside.mkdir()
    first, second = wire.Wire(str(tmp_path)), wire.Wire(str(inside))
    third = wire.Wire(str(tmp_path))
    for each, text in ((third, "third"), (second, "second"), (first, "first")):
        each.note(text)
    assert notes(tmp_path) == ["first", "second", "third"]


def test_a_line_cut_short_ends_its_process_and_no_other(tmp_path):
    cut, whole = wire.Wire(str(tmp_path)), wire.Wire(str(tmp_path))
    cut.note("said")
    whole.note("also said")
    file = next(path for path in tmp_path.iterdir() if '"said"' in path.read_text())
    with file.open("a") as stream:
        stream.write('{"kind": "note", "va')
    assert notes(tmp_path) == ["said", "also said"]


def test_launches_are_numbered_across_processes(tmp_path):
    one, other = wire.Wire(str(tmp_path)), wire.Wire(str(tmp_path))
    assert [one.next_number(), other.next_number(), one.next_number()] == [0, 1, 2]
