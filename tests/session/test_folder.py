"""The folder is the safe: what is made, what is refused, and what the refusal tells to do."""

from __future__ import annotations

import itertools
import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from ppdm_sql import StoreError
from ppdm_sql.store import folder

if TYPE_CHECKING:
    from collections.abc import Iterator

SOMEBODY_ELSE = 54321


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def held_by_child(code: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python that opens a database and waits; end it with the block."""
    child = subprocess.Popen(
        [sys.executable, "-c", f"{code}\nprint('open', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def make(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i")


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch, earlier_checks: int) -> None:
    """Make a path somebody else's; without the right to do so, seem to be somebody else."""
    me = os.geteuid()
    if me == 0:
        os.chown(path, SOMEBODY_ELSE, -1)
    else:
        answers = itertools.chain([me] * earlier_checks, itertools.repeat(SOMEBODY_ELSE))
        monkeypatch.setattr(os, "geteuid", lambda: next(answers))


def refusal(safe: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        ppdm_sql.connect(safe)
    return caught.value


# What is made


def test_folders_above_a_new_safe_are_not_for_others_to_write(tmp_path: Path) -> None:
    """Before: by umask 0 they were, and the store that was made there was refused ever after."""
    safe = tmp_path / "deep" / "deeper" / "owner" / "a.duckdb"
    before = os.umask(0)
    try:
        make(safe)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in list(safe.parents)[:3]] == [
        0o700,
        0o755,
        0o755,
    ]
    ppdm_sql.connect(safe).close()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_new_folder_and_file_are_the_owners_alone_under_any_umask(safe: Path, mask: int) -> None:
    with umask(mask):
        make(safe)
    assert mode(safe.parent) == 0o700
    assert mode(safe) == 0o600


def test_folders_above_a_new_one_are_made_too(tmp_path: Path) -> None:
    safe = tmp_path / "a" / "b" / "c.duckdb"
    make(safe)
    assert mode(safe.parent) == 0o700


def test_a_new_file_in_a_folder_that_is_already_the_owners_alone(safe: Path) -> None:
    safe.parent.mkdir(mode=0o700)
    with umask(0):
        make(safe)
    assert mode(safe) == 0o600


@pytest.mark.parametrize("bits", [0o700, 0o500 | 0o200])
def test_an_existing_store_opens_again(safe: Path, bits: int) -> None:
    make(safe)
    safe.parent.chmod(bits)
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM t").fetchall() == [(1,)]


def test_a_path_may_be_a_text_and_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ppdm_sql.connect("owner/clinic.duckdb") as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i")
        monkeypatch.chdir("/")
        owner.execute("INSERT INTO t SELECT range FROM range(10); CHECKPOINT")
    there = [".clinic.duckdb.lock", "clinic.duckdb"]
    assert sorted(path.name for path in (tmp_path / "owner").iterdir()) == there


@pytest.mark.parametrize("name", ["it's.duckdb", 'a "b".duckdb', "a;b.duckdb", "ümlaut ☃.duckdb"])
def test_the_file_may_have_an_odd_name(tmp_path: Path, name: str) -> None:
    safe = tmp_path / "own'er; --" / name
    make(safe)
    assert mode(safe) == 0o600
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM t").fetchall() == [(1,)]
    assert {path.name for path in safe.parent.iterdir()} == {name, f".{name}.lock"}


# What is refused


@pytest.mark.parametrize("bits", [0o755, 0o750, 0o710, 0o701, 0o720, 0o702, 0o777, 0o740])
def test_a_folder_that_others_may_enter_is_refused(safe: Path, bits: int) -> None:
    safe.parent.mkdir()
    safe.parent.chmod(bits)
    error = refusal(safe)
    assert f"others may enter the folder '{safe.parent}' (mode {bits:04o})" in str(error)
    assert f"chmod 700 '{safe.parent}'" in str(error)
    assert not safe.exists()
    assert mode(safe.parent) == bits


def test_following_the_advice_for_a_folder_helps(safe: Path) -> None:
    safe.parent.mkdir()
    safe.parent.chmod(0o755)
    refusal(safe)
    safe.parent.chmod(0o700)
    make(safe)


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660, 0o606, 0o644, 0o610, 0o601])
def test_a_file_that_others_may_read_or_write_is_refused(safe: Path, bits: int) -> None:
    make(safe)
    safe.chmod(bits)
    error = refusal(safe)
    assert f"other users can read or change '{safe}' (mode {bits:04o})" in str(error)
    assert f"chmod 600 '{safe}'" in str(error)
    assert mode(safe) == bits


def test_a_folder_of_somebody_else_is_refused(safe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    safe.parent.mkdir(mode=0o700)
    give_away(safe.parent, monkeypatch, earlier_checks=1)
    error = refusal(safe)
    assert f"'{safe.parent}' belongs to another user" in str(error)
    assert "chown" in str(error)
    assert not safe.exists()


def test_a_file_of_somebody_else_is_refused(safe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(safe)
    give_away(safe, monkeypatch, earlier_checks=2)
    error = refusal(safe)
    assert f"'{safe}' belongs to another user" in str(error)
    assert "chown" in str(error)


def test_a_symbolic_link_as_file_is_refused(safe: Path, tmp_path: Path) -> None:
    make(tmp_path / "real" / "clinic.duckdb")
    safe.parent.mkdir(mode=0o700)
    safe.symlink_to(tmp_path / "real" / "clinic.duckdb")
    error = refusal(safe)
    assert f"'{safe}' is a symbolic link" in str(error)
    assert "name the database that it points to" in str(error)


def test_a_symbolic_link_to_nothing_is_not_followed(safe: Path, tmp_path: Path) -> None:
    safe.parent.mkdir(mode=0o700)
    safe.symlink_to(tmp_path / "elsewhere.duckdb")
    assert f"'{safe}' is a symbolic link" in str(refusal(safe))
    assert not (tmp_path / "elsewhere.duckdb").exists()


def test_a_symbolic_link_as_folder_is_refused(safe: Path, tmp_path: Path) -> None:
    make(tmp_path / "real" / "clinic.duckdb")
    safe.parent.symlink_to(tmp_path / "real")
    error = refusal(safe)
    assert f"the folder '{safe.parent}' is a symbolic link" in str(error)
    assert "name the folder that it points to" in str(error)


def test_a_symbolic_link_to_no_folder_is_refused(safe: Path, tmp_path: Path) -> None:
    safe.parent.symlink_to(tmp_path / "elsewhere")
    assert "is a symbolic link" in str(refusal(safe))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_as_write_ahead_log_is_refused(
    safe: Path, tmp_path: Path, there: bool
) -> None:
    make(safe)
    if there:
        (tmp_path / "log").write_bytes(b"")
    folder.wal_of(safe).symlink_to(tmp_path / "log")
    assert f"'{folder.wal_of(safe)}' is a symbolic link" in str(refusal(safe))
    assert (tmp_path / "log").exists() is there


def test_a_plain_file_where_the_folder_should_be_is_refused(safe: Path) -> None:
    safe.parent.write_text("not a folder")
    assert f"'{safe.parent}' is not a folder" in str(refusal(safe))
    assert safe.parent.read_text() == "not a folder"


def test_a_plain_file_above_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be made" in str(refusal(tmp_path / "file" / "owner" / "clinic.duckdb"))


def test_a_folder_where_the_file_should_be_is_refused(safe: Path) -> None:
    safe.mkdir(parents=True, mode=0o700)
    safe.parent.chmod(0o700)
    assert f"'{safe}' is not a file" in str(refusal(safe))


def test_a_pipe_where_the_file_should_be_is_refused(safe: Path) -> None:
    safe.parent.mkdir(mode=0o700)
    os.mkfifo(safe, 0o600)
    assert f"'{safe}' is not a file" in str(refusal(safe))


@pytest.mark.parametrize("content", [b"id,name\n1,Ada\n" * 2000, b"x"])
def test_a_file_that_is_no_database_is_refused_and_kept(safe: Path, content: bytes) -> None:
    safe.parent.mkdir(mode=0o700)
    safe.write_bytes(content)
    safe.chmod(0o600)
    error = refusal(safe)
    assert f"'{safe}' is not a DuckDB database" in str(error)
    assert "a script reads others, such as FROM 'clinic.duckdb'" in str(error)
    assert "Ada" not in str(error)
    assert safe.read_bytes() == content


def test_a_file_that_is_no_database_is_told_before_its_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    table = tmp_path / "visits.csv"
    table.write_text("id,name\n1,Ada\n")
    error = refusal(table)
    assert f"'{table}' is not a DuckDB database" in str(error)
    assert "FROM 'visits.csv'" in str(error)
    assert "Ada" not in str(error)


def test_a_published_file_is_told_how_to_be_asked(safe: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.duckdb"
    with ppdm_sql.connect(safe) as owner:
        owner.execute(
            "CREATE TABLE t AS SELECT 1 AS a; CREATE RELEASE research.r FROM t (a NEUTRAL);"
            f"PUBLISH RELEASE research.r TO '{study}'"
        )
    for bits in (0o755, 0o700):  # the folder is told first, then the file
        tmp_path.chmod(bits)
        assert "a published file is read with `ppdm query`" in str(refusal(study))


def test_a_database_cut_short_is_refused_and_kept(safe: Path) -> None:
    make(safe)
    content = safe.read_bytes()[:5000]
    safe.write_bytes(content)
    assert "cannot be opened as a DuckDB database" in str(refusal(safe))
    assert safe.read_bytes() == content


def test_a_name_too_long_for_a_file_is_refused_in_words(tmp_path: Path) -> None:
    refusal(tmp_path / "owner" / ("a" * 300))


def test_a_folder_that_may_not_be_entered_is_refused_in_words(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    code = (
        "import os, sys, ppdm_sql\n"
        "ppdm_sql.connect(':memory:').close()\n"  # imports what root may read
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try:\n"
        "    ppdm_sql.connect(sys.argv[1])\n"
        "except ppdm_sql.StoreError as error:\n"
        "    print(error)\n"
    )
    blocked.chmod(0o000)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, str(blocked / "owner" / "clinic.duckdb")],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        blocked.chmod(0o700)
    assert done.stderr == ""
    assert str(blocked) in done.stdout


def test_a_system_without_file_modes_is_refused(
    safe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        with pytest.raises(StoreError, match="POSIX"):
            folder.prepare(safe)
    assert not safe.parent.exists()


# One process at a time


@pytest.mark.parametrize(
    "code",
    [
        "import duckdb; c = duckdb.connect({path!r})",
        "import duckdb; c = duckdb.connect({path!r}, read_only=True)",
        "import ppdm_sql; c = ppdm_sql.connect({path!r})",
    ],
)
def test_a_file_held_by_another_process_is_refused_and_names_it(safe: Path, code: str) -> None:
    make(safe)
    with held_by_child(code.format(path=str(safe))) as child:
        error = refusal(safe)
        assert f"'{safe}' is open in another process" in str(error)
        assert f"process {child.pid}" in str(error)
        assert "python" in str(error)
        assert "one process at a time may open it" in str(error)
    make_again = ppdm_sql.connect(safe)
    make_again.close()


def test_a_file_held_by_a_process_that_has_written_is_refused_and_names_it(safe: Path) -> None:
    code = (
        "import ppdm_sql\n"
        f"c = ppdm_sql.connect({str(safe)!r})\n"
        "c.execute('CREATE TABLE t AS SELECT 1 AS i')"
    )
    with held_by_child(code) as child:
        assert f"process {child.pid}" in str(refusal(safe))


def test_a_file_is_opened_once_in_a_process(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        error = refusal(safe)
        assert f"'{safe}' is already open in this process" in str(error)
        assert "close the other connection" in str(error)
        owner.execute("CREATE TABLE t AS SELECT 1 AS i")
        assert owner.execute("FROM t").fetchall() == [(1,)]


def test_a_file_with_unsaved_changes_is_opened_once_in_a_process(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i")
        assert "is already open in this process" in str(refusal(safe))


def test_after_close_another_process_can_open(safe: Path) -> None:
    owner = ppdm_sql.connect(safe)
    owner.execute("CREATE TABLE t AS SELECT 1 AS i")
    owner.close()
    with held_by_child(f"import ppdm_sql; c = ppdm_sql.connect({str(safe)!r})"):
        pass


def test_after_a_failed_open_another_process_can_open(safe: Path) -> None:
    make(safe)
    with duckdb.connect(str(safe)) as raw:
        raw.execute("UPDATE ppdm_owner.store SET format = 99")
    refusal(safe)
    with held_by_child(f"import duckdb; c = duckdb.connect({str(safe)!r})"):
        pass


def test_after_a_crash_the_store_opens_again(safe: Path) -> None:
    """DuckDB makes the log with the process's umask; the folder keeps others out all the same."""
    code = (
        "import os, ppdm_sql\n"
        f"c = ppdm_sql.connect({str(safe)!r})\n"
        "c.execute('CREATE TABLE t AS SELECT 1 AS i')\n"
        "os.kill(os.getpid(), 9)"
    )
    with umask(0o022):
        child = subprocess.run([sys.executable, "-c", code], check=False)
    assert child.returncode == -signal.SIGKILL
    assert folder.wal_of(safe).exists()
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM t").fetchall() == [(1,)]


# Spilling


def test_spill_files_stay_inside_the_safe(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        ((spill,),) = owner.execute("SELECT current_setting('temp_directory')").fetchall()
        assert Path(spill).parent == safe.parent
        owner.execute("SET memory_limit = '30MB'")
        owner.execute(
            "CREATE TEMP TABLE big AS SELECT range AS i, hash(range) AS h FROM range(4_000_000)"
        )
        spilled = list(Path(spill).iterdir())
        assert spilled, "this was meant to spill"
        assert all(path.parent.parent == safe.parent for path in spilled)
    assert mode(safe.parent) == 0o700


def test_a_store_appears_when_it_is_whole(safe: Path) -> None:
    safe.parent.mkdir(mode=0o700)

    def killed(draft: Path) -> None:
        draft.write_bytes(b"half of a header")
        assert not safe.exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.make_whole(safe, killed)
    assert list(safe.parent.iterdir()) == []
    folder.make_whole(safe, lambda draft: draft.touch())
    assert list(safe.parent.iterdir()) == [safe]
    assert mode(safe) == 0o600


def test_a_store_that_another_process_made_first_is_left_alone(safe: Path) -> None:
    safe.parent.mkdir(mode=0o700)

    def slow(draft: Path) -> None:
        safe.write_bytes(b"theirs")
        draft.write_bytes(b"ours")

    folder.make_whole(safe, slow)
    folder.make_whole(safe, slow)  # there already: nothing is made
    assert safe.read_bytes() == b"theirs"
    assert list(safe.parent.iterdir()) == [safe]
