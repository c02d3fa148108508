#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A system log: syslog.py SOCKET FILE adds each message to FILE, on a line."""
import os
import socket
import sys

log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
with open(sys.argv[2], "ab", buffering=0) as file:
    while True:
        file.write(log.recv(1 << 20).rstrip(b"\0\n") + b"\n")
