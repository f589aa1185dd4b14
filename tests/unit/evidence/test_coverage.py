"""Which changed files were read while a command ran."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterpoint.evidence.coverage import ReadWatch, watch_reads
from counterpoint.isolation.export import STAMP_NS, ExportReport, export
from counterpoint.isolation.exported import differences
from counterpoint.isolation.repository import Quarantine, Repository
from tests import need
from tests.repositories import Scratch

PATHS = ("a.py", "caf\\xe9", "src/b.py", "src/deep/c")
ALL = (*PATHS, "deleted.py")


@pytest.fixture
def exported(tmp_path: Path) -> tuple[Path, ExportReport]:
    need.linux()
    scratch = Scratch(tmp_path / "repo")
    scratch.write(b"caf\xe9", "x")
    commit = scratch.commit({"a.py": "import src.b\n", "src/b.py": "", "src/deep/c": "x", "other": "x"})
    with Quarantine(Repository.find(scratch.top)) as quarantine:
        return tmp_path / "out", export(quarantine.objects, commit, tmp_path / "out")


def watched(exported: tuple[Path, ExportReport]) -> ReadWatch:
    out, report = exported
    watch = watch_reads(out, report, ALL)
    if watch is None:
        need.absent("the file system of the temporary folder keeps no access times")
    return watch


def start(out: Path, *argv: str) -> None:
    subprocess.run(argv, cwd=out, check=True, capture_output=True, timeout=60)


def test_what_a_command_read_is_told_from_what_it_did_not(exported: tuple[Path, ExportReport]) -> None:
    """DESIGN "checks as a reviewer": what no command read is listed; a deleted file cannot be read and is not."""
    out, _ = exported
    watch = watched(exported)
    assert watch.unread() == PATHS
    start(out, "cat", "a.py", b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert watch.unread() == ("src/b.py", "src/deep/c")
    start(out, sys.executable, "-c", "import src.b")
    assert watch.unread() == ("src/deep/c",)


def test_naming_a_file_is_not_reading_it(exported: tuple[Path, ExportReport]) -> None:
    """FIELD-FAULTS F25: a command line, a listing, a look at size and time open nothing."""
    out, _ = exported
    watch = watched(exported)
    start(out, "ls", "-lR")
    start(out, "test", "-f", "src/deep/c")
    start(out, "echo", "cat src/b.py")
    start(out, "find", ".", "-name", "*.py", "-size", "-9")
    assert watch.unread() == PATHS


def test_each_command_is_told_apart(exported: tuple[Path, ExportReport]) -> None:
    """Ours: a new watch begins with nothing read, although the files were read before."""
    out, report = exported
    for _ in range(2):
        watch = watched(exported)
        assert watch.unread() == PATHS
        start(out, "cat", "src/deep/c")
        assert watch.unread() == PATHS[:-1]
    assert differences(out, report) == ()


def test_a_replaced_or_removed_file_shows_no_reading(exported: tuple[Path, ExportReport]) -> None:
    """Ours: another file in its place, or none, proves nothing."""
    out, _ = exported
    watch = watched(exported)
    for folder in (out, out / "src"):
        folder.chmod(0o755)
    (out / "a.py").unlink()
    (out / "src" / "new").write_text("import os\n")
    (out / "src" / "new").rename(out / "src" / "b.py")
    assert (out / "src" / "b.py").read_text() == "import os\n"
    assert watch.unread() == PATHS


def test_where_access_times_are_not_kept_nobody_can_tell(exported: tuple[Path, ExportReport]) -> None:
    """DESIGN "checks as a reviewer": `None` is not "read" and not "unread"; here reading leaves no trace."""
    out, report = exported

    def read_without_trace(path: Path) -> bytes:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOATIME), "rb") as file:
            return file.read()

    assert watch_reads(out, report, ALL, read=read_without_trace) is None
    assert watch_reads(out, report, ("gone",), read=read_without_trace) is not None


def test_files_that_cannot_be_marked_cannot_be_watched(exported: tuple[Path, ExportReport]) -> None:
    """Ours: the export of another owner, or one that is gone."""
    out, report = exported
    (out).rename(out.parent / "moved")
    assert watch_reads(out, report, ALL) is None


def test_watching_leaves_the_time_of_change_alone(exported: tuple[Path, ExportReport]) -> None:
    """Ours: build tools compare it."""
    out, _ = exported
    watched(exported)
    assert (out / "a.py").stat().st_mtime_ns == STAMP_NS


ON_A_MOUNT = """
import sys
from pathlib import Path
from counterpoint.evidence.coverage import watch_reads
from counterpoint.isolation.export import ExportedFile, ExportReport
out = Path(sys.argv[1])
(out / "a").write_text("x")
report = ExportReport(
    source="", tree="", files={"a": ExportedFile(raw=b"a", size=1, sha256="", is_executable=False)},
    folders=frozenset(), total_bytes=1, withheld=(), links=(), submodules=(), odd=(), is_writable=False,
)
watch = watch_reads(out, report, ["a"])
print(None if watch is None else watch.unread())
"""


@pytest.mark.root
@pytest.mark.parametrize(
    ("options", "told"), [("noatime", "None"), ("relatime", "('a',)"), ("strictatime", "('a',)")]
)
def test_a_mount_without_access_times_is_found_out(tmp_path: Path, options: str, told: str) -> None:
    """Ours: the kernel's own ways to keep access times, each on a real file system in a mount namespace."""
    script = 'mount -t tmpfs -o "$2" none "$1" && exec "$3" -c "$4" "$1"'
    argv: list[str | Path] = [
        need.tool("unshare"),
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        tmp_path,
        options,
        sys.executable,
        ON_A_MOUNT,
    ]
    done = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == told
