"""Instructions of the passes of benches/stages.rs, counted by single steps through the remote protocol of GDB."""

import re
import socket
import subprocess
import sys
import time

PASSES = ["line-ends", "hash-tags", "slots", "patterns"]
KEYS = 512  # in the batch on which benches/stages.rs runs a pass
STEPS = 5_000_000  # more than any pass takes
SIGUSR1 = 30  # in the numbering of GDB


class Target:
    """A program under the server of a debugger, gdbserver's or qemu's."""

    def __init__(self, server, program, args):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        start = {"gdbserver": ["gdbserver", "--once", f"127.0.0.1:{port}"], "qemu-aarch64": ["qemu-aarch64", "-g", str(port)]}
        self.process = subprocess.Popen([*start[server], program, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.link = socket.create_connection(("127.0.0.1", port), timeout=300)
                break
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"benches/instructions: {server} does not serve {program}")
                time.sleep(0.05)
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.bytes = self.link.makefile("rb")
        self.ask("?")

    def ask(self, command):
        self.link.sendall(f"${command}#{sum(command.encode()) % 256:02x}".encode())
        while self.bytes.read(1) != b"$":
            pass
        reply = b""
        while not reply.endswith(b"#"):
            reply += self.bytes.read(1)
        self.bytes.read(2)
        self.link.sendall(b"+")
        return reply[:-1].decode(errors="replace")

    def signal_of(self, reply):
        stopped = re.match(r"[TS]([0-9a-f]{2})", reply)
        if not stopped:
            raise SystemExit(f"benches/instructions: the program did not stop for its signal: {reply[:80]}")
        return int(stopped[1], 16)

    def run_to_signal(self):
        while self.signal_of(self.ask("c")) != SIGUSR1:
            pass

    def step_to_signal(self):
        for steps in range(STEPS):
            if self.signal_of(self.ask("s")) == SIGUSR1:
                return steps
        raise SystemExit("benches/instructions: a pass does not end")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.link.close()


def steps(server, program, name, kernel, times):
    target = Target(server, program, [name, kernel, str(times)])
    try:
        target.run_to_signal()
        return target.step_to_signal()
    finally:
        target.end()


def kernels(server):
    if server == "qemu-aarch64":
        return ["neon"]
    flags = open("/proc/cpuinfo").read()
    needs = {"avx512": "avx512_vbmi2", "avx2": "vpclmulqdq", "sse": "pclmulqdq", "neon": "pmull"}
    return [kernel for kernel, flag in needs.items() if re.search(rf"\b{flag}\b", flags)]


def main():
    columns = [(server, program, kernel) for server, program in (pair.split(":", 1) for pair in sys.argv[1:])
               for kernel in kernels(server)]
    print("| instructions a key | " + " | ".join(kernel for _, _, kernel in columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for name in PASSES:
        cells = []
        for server, program, kernel in columns:
            print(f"{name}, {kernel}", file=sys.stderr)
            once = steps(server, program, name, kernel, 1) - steps(server, program, name, kernel, 0)
            cells.append(f"{once / KEYS:.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


main()
