"""An archive's folder: all in it is reached from one descriptor, and no link is followed.

An archive may come from a stranger. Names inside it are given from its folder, as in "trials/0123456789ab-1".
Where a part of one is a symbolic link, a file with a second name elsewhere (a hard link), a pipe or a device,
an `ArchiveError` says so: reading, writing and removing stay inside. What the operating system refuses is an
`OSError` that names the whole path.
"""

import grp
import hashlib
import os
import pwd
import shutil
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NoReturn

from flowsweep.errors import ArchiveError

UNFINISHED = ".tmp"
"""End of the name of what is not written to its end yet."""
ASIDE_FOLDER = "aside"
"""Holds what was found in an archive and not understood."""

_NAME_MAX = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Folder:
    """The folder, held open until `close` or until nobody knows it any more.

    Raises:
        OSError: There is no such folder, or it may not be read.
    """

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        # The folder's own path is the user's, who may have linked it.
        self._descriptor = (
            os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if descriptor is None else descriptor
        )
        self.close = weakref.finalize(self, os.close, self._descriptor)

    def is_replaced(self) -> bool:
        """Whether another folder stands at its path now; if nothing does, none has taken its place."""
        try:
            there = self.path.stat()
        except OSError:
            return False
        return not os.path.samestat(there, os.fstat(self._descriptor))

    def inside(self, name: str) -> "Folder":
        """A folder in it, held open by itself."""
        with self._folder(name) as descriptor:
            return Folder(self.path / name, os.dup(descriptor))

    def open(self, name: str, *, writable: bool = False, new: bool = False) -> int:
        """Open a file; returns its descriptor.

        Args:
            name: From the archive's folder.
            writable: For reading and writing.
            new: Make it; it may not be there yet.
        """
        flags = _FILE | (os.O_RDWR if writable or new else os.O_RDONLY)
        with self._parent(name) as (parent, last):
            if new:
                flags |= os.O_CREAT | os.O_EXCL
            elif (found := _status(parent, last)) is not None:
                self._refuse_other_than_file(name, found)
            descriptor = os.open(last, flags, 0o644, dir_fd=parent)
        try:
            self._refuse_other_than_file(name, os.fstat(descriptor))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read(self, name: str, *, at_most: int) -> bytes:
        """Read a whole file.

        Raises:
            ArchiveError: It has more than `at_most` bytes.
        """
        with os.fdopen(self.open(name), "rb") as file:
            # Room is made for as many bytes as are asked for: not for all that a file may have.
            data = file.read(min(os.fstat(file.fileno()).st_size, at_most) + 1)
            data += file.read(at_most + 1 - len(data)) if file.peek(1) else b""
        if len(data) > at_most:
            raise ArchiveError(f"{self.path / name}: has more than {at_most} bytes, which none should have")
        return data

    def read_file(self, name: str) -> BufferedReader:
        """Open a file for reading."""
        return os.fdopen(self.open(name), "rb")

    def new_file(self, name: str) -> BinaryIO:
        """Make a file, which may not be there yet, and open it for writing."""
        return os.fdopen(self.open(name, new=True), "wb")

    def write(self, name: str, data: bytes) -> None:
        """Put a new file there, as a whole or not at all, for good."""
        unfinished = name + UNFINISHED
        self.remove(unfinished)
        with self.new_file(unfinished) as file:
            file.write(data)
        self.sync(unfinished)
        self.rename(unfinished, name)

    def replace(self, name: str, data: bytes) -> None:
        """Put a file there, in the place of the one before; not waited for: a power cut may take it away."""
        unfinished = name + UNFINISHED
        self.remove(unfinished)
        with self.new_file(unfinished) as file:
            file.write(data)
        with self._parent(name) as (parent, last):
            os.rename(last + UNFINISHED, last, src_dir_fd=parent, dst_dir_fd=parent)

    def digest(self, name: str) -> str:
        """SHA-256 of a file's bytes, in hexadecimal."""
        with self.read_file(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def has_file(self, name: str) -> bool:
        """Whether a file is there."""
        try:
            found = self._status(name)
        except FileNotFoundError:
            return False
        if found is not None:
            self._refuse_other_than_file(name, found)
        return found is not None

    def is_own(self, name: str = "") -> bool:
        """Whether a file, or the folder itself, is the caller's, and nobody else can write it.

        A group may that has nobody but the caller, as many systems give each user one; where a list of
        others who may (acl(5)) is set, the bits of the group are for all of these.
        """
        found = self._status(name) if name else os.fstat(self._descriptor)
        if found is None or found.st_uid != os.geteuid() or found.st_mode & stat.S_IWOTH:
            return False
        if not found.st_mode & stat.S_IWGRP:
            return True
        return _is_group_of_caller(found.st_gid) and not self._has_access_list(name)

    def _has_access_list(self, name: str) -> bool:
        descriptor = self.open(name) if name else os.dup(self._descriptor)
        try:
            return "system.posix_acl_access" in os.listxattr(descriptor)
        except OSError:
            return False  # Of a file system that has none.
        finally:
            os.close(descriptor)

    def file_bytes(self, name: str) -> int:
        """How long a file is."""
        with self.read_file(name) as file:
            return os.fstat(file.fileno()).st_size

    def stamp(self, name: str) -> tuple[int, int] | None:
        """Inode and time of the last change of a file, in Unix nanoseconds; None if it is not there."""
        found = self._status(name)
        return None if found is None else (found.st_ino, found.st_mtime_ns)

    def all_names(self) -> tuple[str, ...]:
        """Names of all that is in the archive's folder itself, sorted."""
        return _names(self._descriptor)

    def names(self, name: str) -> tuple[str, ...]:
        """Names of all that is in a folder, sorted; none if it is not there."""
        try:
            with self._folder(name) as descriptor:
                return _names(descriptor)
        except FileNotFoundError:
            return ()

    def make_folder(self, name: str) -> None:
        """Make a folder, unless it is there."""
        with self._parent(name) as (parent, last):
            if _status(parent, last) is None:
                os.mkdir(last, dir_fd=parent)
        with self._folder(name):
            pass

    def make_empty_folder(self, name: str) -> None:
        """Make an empty folder; what a killed process left under that name goes."""
        self.remove(name)
        self.make_folder(name)

    def rename(self, source: str, target: str) -> None:
        """Give a file or folder its final name, which nothing may have yet, for good."""
        with self._parent(source) as (old, old_name), self._parent(target) as (new, new_name):
            if _status(new, new_name) is not None:
                raise ArchiveError(f"{self.path / target}: is there already, and is not written over")
            os.rename(old_name, new_name, src_dir_fd=old, dst_dir_fd=new)
            os.fsync(new)
            if not os.path.sameopenfile(old, new):
                os.fsync(old)

    def remove(self, name: str) -> None:
        """Remove a file, a link itself or a folder with all that is in it, if it is there."""
        try:
            with self._parent(name) as (parent, last):
                found = _status(parent, last)
                if found is None:
                    return
                if stat.S_ISDIR(found.st_mode):
                    shutil.rmtree(last, dir_fd=parent)
                else:
                    os.unlink(last, dir_fd=parent)
        except FileNotFoundError:
            return

    def remove_empty_folder(self, name: str) -> None:
        """Remove a folder, if it is there; what is in it, if anything, stays, and is an OSError."""
        with self._parent(name) as (parent, last), suppress(FileNotFoundError):
            os.rmdir(last, dir_fd=parent)

    def put_aside(self, name: str) -> str:
        """Move what nobody understands out of the way; returns its new name, under `ASIDE_FOLDER`."""
        kept = self.free_name_aside(name)
        self.rename(name, kept)
        return kept

    def free_name_aside(self, name: str) -> str:
        """Make `ASIDE_FOLDER`, and find a name in it that nothing has, like the one given."""
        self.make_folder(ASIDE_FOLDER)
        self.sync()
        there = set(self.names(ASIDE_FOLDER))
        like = name.replace("/", "-")[:_NAME_MAX]
        free, number = like, 1
        while free in there:
            number += 1
            free = f"{like}-{number}"
        return f"{ASIDE_FOLDER}/{free}"

    def sync(self, name: str = "") -> None:
        """Wait until the disk has a file, or a folder's list of names; the archive's own without a name."""
        if not name:
            os.fsync(self._descriptor)
            return
        with self._parent(name) as (parent, last):
            descriptor = os.open(last, os.O_RDONLY | _FILE, dir_fd=parent)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _refuse_other_than_file(self, name: str, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            self._refuse(name, f"is {_kind(found.st_mode)}, and a file is expected")
        if found.st_nlink > 1:
            self._refuse(name, "has another name elsewhere (a hard link)")

    def _refuse(self, name: str, what: str) -> NoReturn:
        raise ArchiveError(
            f"{self.path / name}: {what}. An archive is made of files and folders of its own: copy it with "
            "`cp -rL` if you trust it, and work on the copy."
        )

    def _status(self, name: str) -> os.stat_result | None:
        with self._parent(name) as (parent, last):
            return _status(parent, last)

    @contextmanager
    def _parent(self, name: str) -> Iterator[tuple[int, str]]:
        """The open folder that holds what has the name, and the last part of it."""
        for part in name.split("/"):
            if part in {"", ".", ".."} or "\0" in part:
                raise ValueError(f"{name!r} is no name inside an archive")
        parent, _, last = name.rpartition("/")
        with self._whole_path_named(name):
            if not parent:
                yield self._descriptor, last
                return
            with self._folder(parent) as descriptor:
                yield descriptor, last

    @contextmanager
    def _folder(self, name: str) -> Iterator[int]:
        """A folder, open; each part of its name is one itself."""
        descriptor = os.dup(self._descriptor)
        try:
            with self._whole_path_named(name):
                for part in name.split("/"):
                    found = _status(descriptor, part)
                    if found is not None and not stat.S_ISDIR(found.st_mode):
                        self._refuse(name, f"{part} is {_kind(found.st_mode)}, and a folder is expected")
                    inner = os.open(part, _FOLDER, dir_fd=descriptor)
                    os.close(descriptor)
                    descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _whole_path_named(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not str(error.filename).startswith(str(self.path)):
                error.filename = str(self.path / name)
            raise


def sync_above(path: Path) -> None:
    """Wait until the disk has a folder in the list of the one that holds it."""
    above = Folder(path.absolute().parent)
    above.sync()
    above.close()


def _status(parent: int, name: str) -> os.stat_result | None:
    """What is there under a name, links not followed; None if nothing is."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _names(folder: int) -> tuple[str, ...]:
    with os.scandir(folder) as entries:
        return tuple(sorted(entry.name for entry in entries))


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISREG(mode):
        return "a file"
    return "a pipe, a socket or a device"


def _is_group_of_caller(gid: int) -> bool:
    """Whether it is a user's private group: of the same number and name, and without other members."""
    if gid != os.getegid() or gid != os.geteuid():
        return False
    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}
