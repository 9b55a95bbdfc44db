"""Sends raw packets in the network namespace that it runs in, as fast as it can.

    send-packets.py INTERFACE < requests

A request on standard input: one byte, then a length (4 bytes, big endian) and as many bytes, which are packets each with a length of 2 bytes before it. The byte is
`f` for frames of the interface, `4` for IPv4 packets with their headers and `6` for IPv6 packets with theirs, which leave this computer by its own output.
Answers `done N` when all N are sent.
"""
import socket
import struct
import sys

interface = sys.argv[1]
IPV6_HDRINCL = 36


def exactly(count):
    parts = []
    while count > 0:
        part = sys.stdin.buffer.read(count)
        if not part:
            sys.exit(0)
        parts.append(part)
        count -= len(part)
    return b''.join(parts)


frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
frames.bind((interface, 0))
raw4 = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
raw6 = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
raw6.setsockopt(socket.IPPROTO_IPV6, IPV6_HDRINCL, 1)

while True:
    kind = exactly(1)
    (length,) = struct.unpack('>I', exactly(4))
    body = exactly(length)
    at = count = refused = 0
    while at < length:
        (size,) = struct.unpack_from('>H', body, at)
        packet = body[at + 2 : at + 2 + size]
        at += 2 + size
        try:
            if kind == b'f':
                frames.send(packet)
            elif kind == b'4':
                raw4.sendto(packet, (socket.inet_ntop(socket.AF_INET, packet[16:20]), 0))
            else:
                raw6.sendto(packet, (socket.inet_ntop(socket.AF_INET6, packet[24:40]), 0))
        except PermissionError:
            # A packet that the firewall drops on its way out is refused to its sender.
            refused += 1
        count += 1
    sys.stdout.write(f'done {count}\n')
    sys.stdout.flush()
