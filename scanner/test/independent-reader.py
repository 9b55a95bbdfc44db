"""Looks for EICAR in files with the readers of Python's own library, which know nothing of ours. Prints the name of each file that holds it, and how."""
import base64, binascii, bz2, email, email.policy, gzip, io, lzma, mailbox, re, sys, tarfile, zipfile, zlib, os, tempfile

EICAR = (b'X5O!P%@AP[4\\PZX54(P^)7CC)7}$' + b'EICAR-STANDARD-ANTIVIRUS' + b'-TEST-FILE!$H+H*')
MOST = 64 * 1024 * 1024


def attempts(data, within):
    """Everything that some reader makes of these bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                try:
                    with archive.open(entry, pwd=b'palisade') as file:
                        yield 'zip', file.read(MOST)
                except Exception:
                    pass
    except Exception:
        pass
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode='r:') as archive:
            for entry in archive:
                if entry.isfile():
                    yield 'tar', archive.extractfile(entry).read(MOST)
    except Exception:
        pass
    for name, start, unpack in (
        ('gzip', b'\x1f\x8b', lambda: gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST)),
        ('bzip2', b'BZh', lambda: bz2.BZ2Decompressor().decompress(data, MOST)),
        ('xz', b'\xfd7zXZ', lambda: lzma.LZMADecompressor().decompress(data, MOST)),
        ('lzma', b'\x5d\x00', lambda: lzma.LZMADecompressor(format=lzma.FORMAT_ALONE, memlimit=1 << 28).decompress(data, MOST)),
    ):
        if data.startswith(start):
            try:
                yield name, unpack()
            except Exception:
                pass
    if data.startswith(b'%PDF'):
        for found in re.finditer(rb'stream\r?\n(.*?)endstream', data, re.S):
            try:
                yield 'pdf', zlib.decompressobj().decompress(found.group(1), MOST)
            except Exception:
                pass
            for name, decode in (
                (b'ASCIIHex', lambda text: binascii.unhexlify(re.sub(rb'[^0-9a-fA-F]', b'', text.split(b'>')[0]))),
                (b'ASCII85', lambda text: base64.a85decode(text.split(b'~')[0])),
            ):
                if re.search(rb'/Filter[\s\[]*/' + name, data[: found.start()]):
                    try:
                        yield 'pdf', decode(found.group(1))
                    except Exception:
                        pass
    if within != 'mail' and re.match(rb'\s*(From |[!-9;-~]+:)', data):
        try:
            mail = email.message_from_bytes(data, policy=email.policy.compat32)
            for part in mail.walk():
                if not part.is_multipart():
                    yield 'mail', part.get_payload(decode=True) or b''
        except Exception:
            pass
    for found in re.finditer(rb'^begin [0-7]{3,4} [^\r\n]+\r?\n', data, re.M):
        file = b''
        for line in data[found.end() :].split(b'\n'):
            if line.startswith(b'end') or line[:1] in (b'', b'`', b' '):
                break
            try:
                file += binascii.a2b_uu(line)
            except Exception:
                break
        yield 'uuencode', file
    if data.startswith(b'From '):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            try:
                for message in mailbox.mbox(file.name):
                    yield 'mailbox', message.as_bytes()
            except Exception:
                pass


def holds(data, depth=0, within=''):
    if EICAR in data:
        return ''
    if depth == 5:
        return None
    for how, inner in attempts(data, within):
        if inner and inner != data:
            found = holds(inner, depth + 1, how)
            if found is not None:
                return f'{how} {found}'.strip()
    return None


for path in sorted(os.scandir(sys.argv[1]), key=lambda entry: entry.name):
    if not path.name.startswith('clean-'):
        continue
    with open(path.path, 'rb') as file:
        found = holds(file.read())
    if found is not None:
        print(path.name, found)
