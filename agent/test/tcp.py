"""One end of TCP connections, for tests in network namespaces.

    tcp.py listen PORT...        echoes whatever comes, on all of them; says `ready`
    tcp.py talk HOST PORT        connects and says `open`; then for each line of standard input sends it and says `echo`, or `silent` after three seconds; a line `bulk N`
                                 stands for N bytes, of which all have to come back
    tcp.py knock HOST PORT       says `open`, `refused` or `silent`
"""
import selectors
import socket
import sys
import threading


def say(word):
    sys.stdout.write(word + '\n')
    sys.stdout.flush()


def listen(ports):
    selector = selectors.DefaultSelector()
    for port in ports:
        listener = socket.create_server(('::', int(port)), family=socket.AF_INET6, dualstack_ipv6=True)
        selector.register(listener, selectors.EVENT_READ, 'listener')
    say('ready')
    while True:
        for key, _ in selector.select():
            if key.data == 'listener':
                peer, _ = key.fileobj.accept()
                selector.register(peer, selectors.EVENT_READ, 'peer')
                continue
            try:
                data = key.fileobj.recv(4096)
            except OSError:
                data = b''
            if data:
                key.fileobj.sendall(data)
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()


def connect(host, port):
    return socket.create_connection((host, int(port)), timeout=1)


def bulk(peer, size):
    threading.Thread(target=peer.sendall, args=(bytes(size),), daemon=True).start()
    while size > 0:
        data = peer.recv(65536)
        if not data:
            return 'closed'
        size -= len(data)
    return 'echo'


mode, *rest = sys.argv[1:]
if mode == 'listen':
    listen(rest)
elif mode == 'knock':
    try:
        connect(*rest).close()
        say('open')
    except ConnectionRefusedError:
        say('refused')
    except OSError:
        say('silent')
else:
    talk = connect(*rest)
    talk.settimeout(3)
    say('open')
    for line in sys.stdin:
        try:
            if line.startswith('bulk '):
                say(bulk(talk, int(line[5:])))
                continue
            talk.sendall(line.encode())
            say('echo' if talk.recv(4096) else 'closed')
        except (TimeoutError, socket.timeout):
            say('silent')
        except OSError:
            say('closed')
