"""tests/support/torch_forks.py - runs Python scripts in forks of one process that has PyTorch.

To import PyTorch takes two seconds, and a test runs scripts that need it some twenty times.

usage: torch_forks.py SOCKET &               until it is killed
       torch_forks.py SOCKET SCRIPT ARG...   as python3 SCRIPT ARG..., in this folder
"""
import os
import runpy
import socket
import sys


def serve(path):
    import torch  # noqa: F401 - this is what forks share
    import torch.utils._python_dispatch  # noqa: F401
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path + ".new")
        listener.listen()
        os.rename(path + ".new", path)  # clients wait for it
        while True:
            client = listener.accept()[0]
            words, files, _, _ = socket.recv_fds(client, 1 << 16, 4)
            child = os.fork()
            if child == 0:
                run(words.decode().split("\0"), files)
                return
            for file in files:
                os.close(file)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            client.sendall(str(status if status >= 0 else 128 - status).encode())
            client.close()


def run(words, files):
    for to, file in enumerate(files):
        os.dup2(file, to)
    os.chdir(words[0])
    sys.argv = words[1:]
    sys.path[0] = os.path.dirname(words[1])
    runpy.run_path(words[1], run_name="__main__")  # its exit is that of the fork


def ask(path, words):
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, ["\0".join([os.getcwd(), *words]).encode()], [0, 1, 2])
        return int(server.recv(16).decode() or 1)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
