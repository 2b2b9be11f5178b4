"""Processes of rfbench that are forked from one that has imported it, in place of new interpreters.

A new interpreter takes seconds to import rfbench. `Forked` is a `subprocess.Popen` that starts a
worker or a command in milliseconds: a server, which runs no thread and no test, forks it. Its
variables, folder, descriptors, session and exit code are those of a new interpreter, and its parent
is the process that asked; only `/proc/PID/environ` is that of the server. A process whose code or
variables a test has changed is a new interpreter, as each one is at night and without Linux.
"""

import contextlib
import ctypes
import fcntl
import inspect
import itertools
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from types import SimpleNamespace

from rfbench import interpreter
from rfbench.experiment import marks, worker_process
from tests.support.nightly import NIGHTLY

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: orphans below become children of this process
# Variables that are read after the imports.
LATE = ("RFBENCH_", "PYTEST_", "HOME", "LOKY_MAX_CPU_COUNT", marks.MARK, interpreter.SAFE)
FORKS = sys.platform == "linux" and not NIGHTLY
SERVER_CODE = "from tests.support.forked import serve; serve(int(sys.argv[1]))"
WORKER_CODE = worker_process.CHILD_CODE
COMMAND = [sys.executable, "-m", "rfbench"]
COMMAND_CODE = "from rfbench.cli import main; main(prog_name='rfbench')"
SIGNATURE = inspect.signature(subprocess.Popen._execute_child)
FIRST_FREE = 500  # of descriptors
_server = []
_lock = threading.Lock()


class Forked(subprocess.Popen):
    """A worker or a command: a fork of the server if it would be the same as a new interpreter."""

    def _execute_child(self, *given):
        call = SIGNATURE.bind(self, *given).arguments
        variables = os.environ if call["env"] is None else call["env"]
        order = find_order([*map(str, call["args"])])
        with _lock:
            if FORKS and not _server:
                _server.extend(start_server())
            if not order or not FORKS or at_import(variables) != _server[2]:
                return super()._execute_child(*given)
            pipes = call["p2cread"], call["c2pwrite"], call["errwrite"]
            ends = [own if pipe < 0 else pipe for own, pipe in enumerate(pipes)]
            places = dict(enumerate(ends)) | {each: each for each in call["pass_fds"]}
            around = dict(variables), str(call["cwd"] or os.getcwd()), call["start_new_session"]
            self.pid = ask(_server[1], (*order, *around), places)
        self._child_created = True
        # Pipes have another end here; a file that was given stays open, as with `subprocess`.
        others = call["p2cwrite"], call["c2pread"], call["errread"]
        for pipe in {own for own, other in zip(pipes, others, strict=True) if other != -1}:
            os.close(pipe)
        return None


def run(words, **keywords):
    """Return what `subprocess.run` would, of a process that is forked."""
    with Forked(words, **keywords) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def prepare(code, words):
    """Return a command that runs some code before."""
    return [sys.executable, "-c", f"{code}\n{COMMAND_CODE}", *words[len(COMMAND) :]]


def find_order(words):
    """Return the code and the words of a process that may be forked, or None."""
    if words[:3] == COMMAND:
        return COMMAND_CODE, words[3:]
    if words[1] == "-c" and words[2].endswith(COMMAND_CODE):
        return words[2], words[3:]
    if words[1:3] == ["-P", "-c"] and words[3].endswith(WORKER_CODE):
        return words[3], words[4:]
    return None


def at_import(variables):
    """Return the variables that imports may depend on."""
    return {name: value for name, value in variables.items() if not name.startswith(LATE)}


def fork_workers():
    """Let this process fork its workers."""
    namespace = SimpleNamespace(**vars(subprocess) | {"Popen": Forked})
    worker_process.subprocess = namespace


def start_server():
    """Return a new server, a socket to it, and its variables."""
    ours, theirs = socket.socketpair()
    variables = interpreter.build_environment()
    words = interpreter.build_command(SERVER_CODE, str(theirs.fileno()))
    with theirs:
        process = subprocess.Popen(
            words, env=variables, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
        )
    return process, ours, at_import(variables)


def ask(server, order, places):
    """Let the server fork a process with these descriptors; return its number."""
    content = pickle.dumps((order, list(places)))
    control = ctypes.CDLL(None).prctl
    control(SUBREAPER, 1)
    try:
        socket.send_fds(server, [struct.pack("I", len(content))], list(places.values()))
        server.sendall(content)
        (number,) = struct.unpack("I", server.recv(4, socket.MSG_WAITALL))
    finally:
        control(SUBREAPER, 0)
    return number


def serve(number):
    """Fork a process for each order, until the other end of the socket is closed."""
    import rfbench.cli  # noqa: F401
    from rfbench.compute import waves
    from rfbench.experiment import environment
    from rfbench.experiment.trial import run_job  # noqa: F401

    waves.warm_up()
    environment.describe_machine_by_id()
    server = socket.socket(fileno=number)
    while True:
        length, given, *_ = socket.recv_fds(server, 4, 16)
        if not length:
            os._exit(0)
        content = server.recv(*struct.unpack("I", length), socket.MSG_WAITALL)
        server.sendall(fork_twice(*pickle.loads(content), given))
        for each in given:
            os.close(each)


def fork_twice(order, ends, given):
    """Fork a process whose parent ends at once; return its number as bytes."""
    reading, writing = os.pipe()
    if (between := os.fork()) == 0:
        between = os.getpid()
        if (forked := os.fork()) == 0:
            become(between, dict(zip(ends, given, strict=True)), *order)
        os.write(writing, struct.pack("I", forked))
        os._exit(0)
    os.waitpid(between, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read(4)


def become(between, places, code, words, variables, folder, has_own_session):
    """Be a new interpreter that runs this code."""
    status = 1
    try:
        while os.getppid() == between:
            pass
        if has_own_session:
            os.setsid()
        apart = {
            end: fcntl.fcntl(given, fcntl.F_DUPFD, FIRST_FREE) for end, given in places.items()
        }
        os.closerange(3, FIRST_FREE)
        for end, given in apart.items():
            os.dup2(given, end)
        os.closerange(FIRST_FREE, FIRST_FREE + 2 * len(apart))
        with contextlib.suppress(OSError):
            os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        sys.modules["numpy"].random.seed()
        sys.argv = ["-c", *words]
        if code.endswith(COMMAND_CODE):
            fork_server()
        exec(code, {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def kill_at(point):
    """Kill this process in the place of its fsync of that number; the last bytes are lost."""
    fsync, numbers = os.fsync, itertools.count(1)

    def force(file):
        if next(numbers) == point:
            os.ftruncate(file, max(0, os.fstat(file).st_size - 9))
            os.kill(os.getpid(), signal.SIGKILL)
        fsync(file)

    os.fsync = force


def fork_server():
    """Have a server for the workers of this command; it ends with this process."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        serve(theirs.detach())
    theirs.close()
    _server[:] = None, ours, at_import(interpreter.build_environment())
    fork_workers()
