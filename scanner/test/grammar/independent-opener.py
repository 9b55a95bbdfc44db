"""Asks programs that know nothing of our readers whether they take a payload out of a file: Python's library, and those of the machine.

Reads a JSON request a line ({"path", "payload" (base64), "alone": whether the payload is a file of its own}), answers a line for each:
{"path", "found": how, or null}. What comes out of a file is opened again, some levels deep.
"""
import base64, binascii, bz2, codecs, email, email.policy, gzip, hashlib, html, io, json, lzma, mailbox, marshal, os, pickle, pickletools, plistlib, re, shutil, sqlite3, struct, subprocess, sys, tarfile, tempfile, urllib.parse, zipfile, zlib
from concurrent.futures import ThreadPoolExecutor

MOST = 16 * 1024 * 1024
DEEPEST = 7
PATIENCE = 20
PROGRAMS = {name: shutil.which(name, path='/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/opt/homebrew/bin') for name in ('7z', 'bsdtar', 'tar', 'pdfdetach', 'qpdf', 'munpack', 'cabextract', 'uudeview', 'tnef', 'ripmime', 'unar', 'zstd', 'lz4', 'gzip', 'openssl', 'unzip', 'cpio', 'arj', 'gpg')}


def run(program, *words, give=None):
    path = PROGRAMS.get(program)
    if path is None:
        return b''
    try:
        return subprocess.run([path, *words], input=give, stdin=None if give is not None else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'HOME': '/nonexistent'}).stdout[:MOST]
    except Exception:
        return b''


def files_of(program, data, *words, name='in'):
    """The files that a program leaves in an empty folder; FILE stands for the file, OUT for the folder."""
    if PROGRAMS.get(program) is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, name), os.path.join(folder, 'out')
        os.mkdir(out)
        with open(file, 'wb') as target:
            target.write(data)
        try:
            subprocess.run([PROGRAMS[program], *(word.replace('FILE', file).replace('OUT', out) for word in words)], cwd=out, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE, env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'HOME': folder})
        except Exception:
            pass
        for place, _, names in os.walk(out):
            for one in names:
                path = os.path.join(place, one)
                if not os.path.islink(path) and os.path.isfile(path):
                    with open(path, 'rb') as source:
                        yield source.read(MOST)


def quietly(make):
    """What a reader makes of something, or nothing where it fails."""
    try:
        for one in make():
            if one:
                yield one
    except Exception:
        return


def by_zipfile(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            try:
                with archive.open(entry) as file:
                    yield file.read(MOST)
            except Exception:
                continue


def by_tarfile(data):
    for ignore in (False, True):
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode='r:', ignore_zeros=ignore) as archive:
                for entry in archive:
                    if entry.isfile():
                        yield archive.extractfile(entry).read(MOST)
        except Exception:
            continue


def by_streams(data):
    for start, unpack in (
        (b'\x1f\x8b', lambda: gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST)),
        (b'\x1f\x8b', lambda: zlib.decompressobj(31).decompress(data, MOST)),
        (b'BZh', lambda: bz2.BZ2File(io.BytesIO(data)).read(MOST)),
        (b'\xfd7zXZ', lambda: lzma.LZMAFile(io.BytesIO(data)).read(MOST)),
        (b'', lambda: lzma.LZMADecompressor(format=lzma.FORMAT_ALONE, memlimit=1 << 28).decompress(data, MOST) if len(data) > 13 and data[0] < 225 else b''),
        (b'\x78', lambda: zlib.decompressobj().decompress(data, MOST)),
    ):
        if data.startswith(start):
            try:
                yield unpack()
            except Exception:
                continue
    for magic, program in ((b'\x28\xb5\x2f\xfd', 'zstd'), (b'\x04\x22\x4d\x18', 'lz4'), (b'\x02\x21\x4c\x18', 'lz4'), (b'\x1f\x9d', 'gzip')):
        if data.startswith(magic) or (program in ('zstd', 'lz4') and re.match(rb'[\x50-\x5f]\x2a\x4d\x18', data)):
            yield run(program, '-dc', give=data)


MAIL = re.compile(rb'\s*(From |\d+\s*\n)?([!-9;-~]+:[ \t\S]*[\r\n])', re.S)


def by_email(data):
    if not MAIL.match(data[:4096]) and not MAIL.match(data[:100_000]):
        return
    texts = [data]
    first, _, rest = data.partition(b'\n')
    if first.strip().isdigit():
        texts = [rest[: int(first)]]
    for text in texts:
        for policy in (email.policy.compat32, email.policy.default):
            for part in email.message_from_bytes(text, policy=policy).walk():
                if part.is_multipart():
                    continue
                content = part.get_payload(decode=True) or b''
                yield content
                if part.get_content_type() in ('application/pkcs7-mime', 'application/x-pkcs7-mime'):
                    yield run('openssl', 'cms', '-verify', '-noverify', '-inform', 'DER', give=content)
    if data.startswith(b'From '):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            for message in mailbox.mbox(file.name):
                yield message.as_bytes()


def by_mail_programs(data):
    yield from files_of('munpack', data, '-f', '-q', '-C', 'OUT', 'FILE')
    yield from files_of('ripmime', data, '-i', 'FILE', '-d', 'OUT')


def by_text_codings(data):
    for found in re.finditer(rb'^begin [0-7]{3,4} [^\r\n]+\r?\n', data, re.M):
        file = b''
        for line in data[found.end() :].split(b'\n'):
            if line.startswith(b'end') or line[:1] in (b'', b'`', b' '):
                break
            try:
                file += binascii.a2b_uu(line.rstrip(b'\r'))
            except Exception:
                break
        yield file
    if re.search(rb'^(begin |begin-base64 |=ybegin |\(This file must be converted|Content-Transfer-Encoding)', data, re.M | re.I):
        yield from files_of('uudeview', data, '-i', '-q', '-o', '-p', 'OUT', 'FILE')


RUN = re.compile(rb'(?:[A-Za-z0-9+/]{16,}[\r\n\t ]*)+={0,2}')


def by_runs(data):
    """What scripts and pages decode when they are opened."""
    for found in re.finditer(rb'data:[^,"\'\s]*;base64,([A-Za-z0-9+/=%\s]+)', data):
        yield base64.b64decode(urllib.parse.unquote_to_bytes(found.group(1)) + b'==')
    for found in re.finditer(rb'data:[^,"\'\s]*,([^"\'<>\s]+)', data):
        yield urllib.parse.unquote_to_bytes(found.group(1))
    joined = re.sub(rb'["\']\s*\+\s*["\']', b'', data)
    for found in RUN.finditer(joined):
        yield base64.b64decode(re.sub(rb'\s', b'', found.group(0)).rstrip(b'=') + b'==')
    for found in re.finditer(rb'(?:[0-9a-fA-F]{2}){32,}', joined):
        yield bytes.fromhex(found.group(0).decode())


def by_views(data):
    """What a person reads where the file says how its letters are written."""
    for mark, codec in ((codecs.BOM_UTF32_LE, 'utf-32'), (codecs.BOM_UTF32_BE, 'utf-32'), (codecs.BOM_UTF16_LE, 'utf-16'), (codecs.BOM_UTF16_BE, 'utf-16'), (codecs.BOM_UTF8, 'utf-8-sig')):
        if data.startswith(mark):
            yield data.decode(codec, 'replace').encode()
            break
    else:
        zeros = data[:2000].count(0)
        if zeros * 3 > len(data[:2000]):
            yield data.decode('utf-16-le' if data[1:2] == b'\0' else 'utf-16-be', 'replace').encode()
    if re.search(rb'\+[A-Za-z0-9/]{2,}-?', data) and len(data) < 100_000:
        yield data.decode('utf-7').encode()
    if b'&#' in data:
        yield html.unescape(data.decode('latin-1')).encode('latin-1', 'replace')
    if re.search(rb'(%[0-9a-fA-F]{2}){20}', data):
        yield urllib.parse.unquote_to_bytes(data)
    if re.search(rb'(\\x[0-9a-fA-F]{2}){20}', data):
        yield data.decode('unicode_escape').encode('latin-1', 'replace')


def by_pdf(data):
    if b'%PDF' not in data[:2048] and not re.search(rb'\d+ \d+ obj', data[:4096]):
        return
    yield from files_of('pdfdetach', data, '-saveall', '-o', 'OUT', 'FILE', name='in.pdf')
    yield from files_of('qpdf', data, '--qdf', '--decode-level=generalized', '--object-streams=disable', 'FILE', 'OUT/a', name='in.pdf')


def by_ole_package(data):
    """MS-OLEDS: an OLE 1.0 object, and the packager's own head in it."""
    for start in [found.start() for found in re.finditer(rb'\x02\x00[^\0]{1,250}\0[^\0]{1,250}\0\0\0\x03\0', data)][:8]:
        at = data.index(b'\0', start + 2) + 1
        at = data.index(b'\0', at) + 1 + 4
        length = struct.unpack_from('<I', data, at)[0]
        at += 4 + length
        size = struct.unpack_from('<I', data, at)[0]
        yield data[at + 4 : at + 4 + size]


def by_rtf(data):
    if not data.lstrip().startswith(b'{\\rt'):
        return
    for found in re.finditer(rb'\\objdata', data):
        text = data[found.end() :]
        text = re.sub(rb'\{\\\*[^{}]*\}', b'', text)
        text = re.sub(rb'\\[a-z]+-?\d* ?', b'', text)
        text = text.split(b'}')[0]
        digits = re.sub(rb'[^0-9a-fA-F]', b'', text)
        yield bytes.fromhex(digits[: len(digits) // 2 * 2].decode())


def by_onenote(data):
    mark = bytes.fromhex('e716e3bd65261145a4c48d4d0b7a9eac')
    at = data.find(mark)
    while at >= 0:
        size = struct.unpack_from('<Q', data, at + 16)[0]
        yield data[at + 36 : at + 36 + size]
        at = data.find(mark, at + 1)


def by_script(data):
    """What the script gives to the programs that it starts."""
    if not data.startswith(b'#!'):
        return
    found = re.search(rb'tail -n \+(\d+) "\$0" \|', data)
    if found:
        yield data.split(b'\n', int(found.group(1)) - 1)[-1]
    for found in re.finditer(rb"base64 -d[^\n]*<<'?(\w+)'?\n(.*?)\n\1", data, re.S):
        yield base64.b64decode(found.group(2))


def by_lists(data):
    """Formats that are lists of pieces, after what is published of them, or by Python's library."""
    if data[:4] == b'\4\0\0\0' and data[16:26] == b'{"files":{':
        body = 8 + struct.unpack_from('<I', data, 4)[0]
        waiting = [json.loads(data[16 : 16 + struct.unpack_from('<I', data, 12)[0]])]
        while waiting:
            for entry in waiting.pop()['files'].values():
                if 'files' in entry:
                    waiting.append(entry)
                elif 'offset' in entry:
                    yield data[body + int(entry['offset']) :][: entry['size']]
    found = re.search(rb'__HALT_COMPILER\(\);(?: \?>)?\r?\n', data)
    if found:
        at = found.end()
        size, count = struct.unpack_from('<II', data, at)
        body = at + 4 + size
        # How many, version, flags, then an alias and metadata, each with its length.
        at += 14
        at += 4 + struct.unpack_from('<I', data, at)[0]
        at += 4 + struct.unpack_from('<I', data, at)[0]
        for _ in range(count):
            at += 4 + struct.unpack_from('<I', data, at)[0]
            _, _, packed, _, flags, more = struct.unpack_from('<6I', data, at)
            at += 24 + more
            piece = data[body : body + packed]
            body += packed
            yield zlib.decompress(piece, -15) if flags & 0x1000 else piece
    if data[:4] in (b'\0\5\x16\0', b'\0\5\x16\7'):
        for index in range(struct.unpack_from('>H', data, 24)[0]):
            _, start, size = struct.unpack_from('>III', data, 26 + 12 * index)
            yield data[start : start + size]
    if data.startswith(b'bplist00'):
        waiting = [plistlib.loads(data)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting.extend(value.values())
            elif isinstance(value, list):
                waiting.extend(value)
            elif isinstance(value, bytes):
                yield value
    if data[:2] in (b'\x80\2', b'\x80\3', b'\x80\4', b'\x80\5'):
        for _, value, _ in pickletools.genops(data):
            if isinstance(value, bytes):
                yield value


def by_pictures(data):
    """Comments and texts of pictures, and files in the tags of sound."""
    if data.startswith(b'\x89PNG'):
        at = 8
        while at + 12 <= len(data):
            size, kind = struct.unpack_from('>I4s', data, at)
            body = data[at + 8 : at + 8 + size]
            at += 12 + size
            if kind == b'tEXt':
                yield body.partition(b'\0')[2]
            if kind == b'zTXt':
                yield zlib.decompress(body.partition(b'\0')[2][1:])
    found = re.search(rb'\x21\xfe', data) if data.startswith(b'GIF8') else None
    if found:
        at, comment = found.end(), b''
        while data[at]:
            comment += data[at + 1 : at + 1 + data[at]]
            at += 1 + data[at]
        yield comment
    if data.startswith(b'ID3') and data[10:14] == b'GEOB':
        size = struct.unpack_from('>I', data, 14)[0]
        yield data[20 : 20 + size].split(b'\0', 4)[4]


def by_openpgp(data):
    if b'-----BEGIN PGP' in data or data[:1] in (b'\xa3', b'\xcb', b'\xac', b'\xc8'):
        yield run('gpg', '--batch', '--no-options', '--homedir', '/nonexistent', '--no-default-keyring', '--keyring', '/dev/null', '-d', give=data)
        found = re.search(rb'-----BEGIN PGP SIGNED MESSAGE-----\n(?:[^\n]+\n)*\n(.*?)\n-----BEGIN PGP SIGNATURE', data, re.S)
        if found:
            yield re.sub(rb'(?m)^- ', b'', found.group(1))


def by_listing(data):
    """What xxd -r makes of it."""
    if re.match(rb'[0-9a-f]{8}: [0-9a-f]{4}', data):
        yield b''.join(bytes.fromhex(re.sub(rb' ', b'', line[10:50]).decode()) for line in data.split(b'\n') if line)


def by_calls(data):
    """What a script puts together before it runs it."""
    unquoted = lambda text: [piece[1:-1].replace(b"''", b"'") for piece in re.findall(rb"'(?:[^']|'')*'", text)]
    found = re.match(rb'iex \("([^"]*)" -f (.*)\)\n\Z', data, re.S)
    if found:
        pieces = unquoted(found.group(2))
        yield b''.join(pieces[int(number)] for number in re.findall(rb'\d+', found.group(1)))
    found = re.match(rb"iex \(\((.*)\) -join", data, re.S)
    if found:
        yield b''.join(unquoted(found.group(1)))
    found = re.match(rb'iex \(-join \(\[char\[\]\]@\(([\d,]*)', data)
    if found:
        yield bytes(int(number) for number in found.group(1).split(b','))
    found = re.match(rb'eval\((\[.*\])\.join', data, re.S)
    if found:
        yield ''.join(json.loads(found.group(1))).encode('latin-1')
    found = re.match(rb'eval\((".*")\.split', data, re.S)
    if found:
        yield json.loads(found.group(1))[::-1].encode('latin-1')
    found = re.search(rb"<<'END'\n(.*)\nEND\n", data, re.S) or re.search(rb"\necho '(.*)' > file", data, re.S)
    if found:
        yield found.group(1)
    rows = re.findall(rb'^echo ([A-Za-z0-9+/=]+)>>a.b64\r$', data, re.M)
    if rows:
        yield base64.b64decode(b''.join(rows))


class Plain(pickle.Unpickler):
    """Knows nothing but what bytes are written as."""

    def find_class(self, module, name):
        if (module, name) in (('_codecs', 'encode'), ('__builtin__', 'bytes'), ('__builtin__', 'bytearray')):
            return codecs.encode if name == 'encode' else bytes
        raise pickle.UnpicklingError(name)


def by_values(data):
    """Saved objects, databases and compiled scripts, by Python's library; arrays after what is published of them."""
    if data[:1] in (b'(', b'}', b'\x80', b']'):
        try:
            waiting = [Plain(io.BytesIO(data)).load()]
        except Exception:
            waiting = []
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting.extend(value.values())
            elif isinstance(value, (list, tuple)):
                waiting.extend(value)
            elif isinstance(value, (bytes, str)):
                yield value if isinstance(value, bytes) else value.encode()
    if data.startswith(b'\x93NUMPY\1'):
        start = 10 + struct.unpack_from('<H', data, 8)[0]
        kind, size = re.search(rb"'descr': '([<>|][SUOu])(\d*)'", data[:start]).groups()
        body = data[start:]
        if kind == b'|O':
            yield from (one for one in pickle.loads(body) if isinstance(one, bytes))
        elif kind == b'<u':
            yield bytes(number for (number,) in struct.iter_unpack('<H', body))
        else:
            wide = kind[1:] == b'U'
            width = int(size) * (4 if wide else 1)
            for at in range(0, len(body), width):
                one = body[at : at + width]
                yield one.decode('utf-32-le' if kind == b'<U' else 'utf-32-be').rstrip('\0').encode() if wide else one.rstrip(b'\0')
    if data.startswith(b'SQLite format 3\0'):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            for row in sqlite3.connect(file.name).execute('select body from files'):
                yield row[0] if isinstance(row[0], bytes) else row[0].encode()
    if data[2:4] == b'\r\n' and len(data) > 16:
        yield from (one for one in marshal.loads(data[16:]).co_consts if isinstance(one, bytes))
    if data[:4] in (b'PWAD', b'PACK'):
        count, at = struct.unpack_from('<II', data, 4) if data[:4] == b'PWAD' else (2, struct.unpack_from('<I', data, 4)[0])
        for number in range(count):
            start, size = struct.unpack_from('<II', data, at + 16 * number) if data[:4] == b'PWAD' else struct.unpack_from('<II', data, at + 64 * number + 56)
            yield data[start : start + size]
    if data[:1] == b'\x30' and b'\x2a\x86\x48\x86\xf7\r\1\7\1' in data[:40]:
        yield run('openssl', 'cms', '-data_out', '-inform', 'DER', give=data)
    for found in re.finditer(rb'\x78\x9c', data[:100_000]):
        if not TEXT.match(data[:4096]):
            try:
                yield zlib.decompressobj().decompress(data[found.start() :], MOST)
            except Exception:
                continue


ZEROMQ = b'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'


def by_letters(data):
    """Base85 that a person knows to be some, values over lines, letters of large computers."""
    found = re.fullmatch(rb"data = '(.*)'\n", data, re.S)
    letters = re.sub(rb'\s', b'', found.group(1) if found else data)
    if len(letters) > 40 and TEXT.match(data[:4096]):
        for decode in (base64.b85decode, base64.a85decode):
            try:
                yield decode(letters)
            except Exception:
                continue
        if len(letters) % 5 == 0 and all(letter in ZEROMQ for letter in letters):
            numbers = (sum(ZEROMQ.index(letter) * 85**place for letter, place in zip(letters[at : at + 5], (4, 3, 2, 1, 0))) for at in range(0, len(letters), 5))
            yield b''.join(number.to_bytes(4, 'big') for number in numbers).rstrip(b'\0')
    if data.startswith((b'BEGIN:VCARD', b'version: 1')):
        plain = re.sub(rb'\r?\n ', b'', data)
        for found in re.finditer(rb'^(?:PHOTO;[^:]*|jpegPhoto:): ?([A-Za-z0-9+/=]+)', plain, re.M):
            yield base64.b64decode(found.group(1))
    found = re.match(rb'begin 644 [^\n]+\n(.*)\n\+\nend', data, re.S)
    if found:
        alphabet = b'+-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
        yield b''.join(binascii.a2b_uu(bytes(32 + alphabet.index(letter) for letter in row)) for row in found.group(1).split(b'\n'))
    if data[:1] not in b'%<{' and len(data) < 100_000:
        yield data.decode('cp500').encode('latin-1')


def cbor_strings(data):
    for mark in (0x5F, 0x7F):
        at = data.find(bytes([mark]))
        while at >= 0:
            end, whole = at + 1, b''
            while end < len(data) and mark - 31 <= data[end] <= mark - 7:
                size, end = (data[end] - mark + 31, end + 1) if data[end] < mark - 7 else (data[end + 1], end + 2)
                whole += data[end : end + size]
                end += size
            if data[end : end + 1] == b'\xff':
                yield whole
            at = data.find(bytes([mark]), at + 1)


def lz4_block(block, size):
    whole, at = bytearray(), 0
    while at < len(block):
        token, at = block[at], at + 1
        lengths = []
        for length in (token >> 4, token & 15):
            if lengths:
                if at >= len(block):
                    return bytes(whole)
                distance, at = struct.unpack_from('<H', block, at)[0], at + 2
            while length >= 15:
                more, at = block[at], at + 1
                length += more
                if more < 255:
                    break
            lengths.append(length)
            if len(lengths) == 1:
                whole += block[at : at + length]
                at += length
            else:
                for _ in range(length + 4):
                    whole.append(whole[-distance])
            if len(whole) > size:
                return b''
    return bytes(whole)


OCTAL = re.compile(rb'\\([0-3][0-7]{2}|.)', re.S)


def unescaped(value):
    letters = {b'0': b'\0', b'n': b'\n', b'r': b'\r', b'Z': b'\x1a', b't': b'\t', b'b': b'\b'}
    return re.sub(rb'\\(.)', lambda found: letters.get(found.group(1), found.group(1)), value, flags=re.S)


def from_bytea(value):
    return OCTAL.sub(lambda found: bytes([int(found.group(1), 8)]) if len(found.group(1)) == 3 else found.group(1), value)


def by_rows(data):
    """Bytes in columns of digits, in pieces, with escapes and in blocks, after what is published of each."""
    digits = lambda rows: bytes.fromhex(b''.join(rows).decode())
    for pattern in (rb'^ *310\r?\n([0-9A-F]+)\r?$', rb' rx ((?:[0-9a-f]{2} ?)+)$', rb'^\[[\d.]+\] dev 3: ([0-9a-f]+)$', rb"hextoraw\('([0-9a-f]+)'\)"):
        rows = re.findall(pattern, data, re.M)
        if rows:
            yield digits(rows)
    rows = re.findall(rb'^<= Recv data[^\n]*\n((?:[0-9a-f]{4}: [^\n]*\n)+)', data, re.M)
    if rows:
        yield digits(re.findall(rb'^[0-9a-f]{4}: ((?:[0-9a-f]{2} ){1,16})', b''.join(rows), re.M))
    rows = re.findall(rb'^0x[0-9a-f]+:((?:\t0x[0-9a-f]{2})+)$', data, re.M)
    if rows:
        yield digits(row.replace(b'\t0x', b'') for row in rows)
    rows = re.findall(rb'^[0-9a-f]{8}`[0-9a-f]{8}  ((?:[0-9a-f]{2}[ -]){1,16})', data, re.M)
    if rows:
        yield digits(row.replace(b'-', b'') for row in rows)
    if data[:6] == b'\xbf\x64name':
        yield from cbor_strings(data)
    for found in re.finditer(rb"_binary '((?:[^'\\]|\\.)*)'", data, re.S):
        yield unescaped(found.group(1))
    if b'PostgreSQL database dump' in data:
        for found in re.finditer(rb'^1\t(.*)$', data, re.M):
            yield from_bytea(unescaped(found.group(1)))
        for found in re.finditer(rb"VALUES \(1, '((?:[^']|'')*)'\)", data):
            yield from_bytea(found.group(1).replace(b"''", b"'"))
    if data.startswith(b'LZ4Block'):
        whole, at = b'', 0
        while at + 21 <= len(data):
            packed, size = struct.unpack_from('<II', data, at + 9)
            whole += lz4_block(data[at + 21 : at + 21 + packed], size)
            at += 21 + packed
        yield whole
    if len(data) > 8 and len(data) - 40 < struct.unpack_from('<I', data)[0] < 255 * len(data):
        yield lz4_block(data[4:], struct.unpack_from('<I', data)[0])


TEXT = re.compile(rb'[\t\n\r\x20-\x7e\x80-\xff]*\Z')


def by_programs(data):
    if data.startswith(b'\x78\x9f\x3e\x22'):
        yield from files_of('tnef', data, '--overwrite', '-C', 'OUT', '-f', 'FILE')
    if data[:4] == bytes.fromhex('789f3e22') or data[:4] == bytes.fromhex('223e9f78'):
        yield from files_of('tnef', data, '--overwrite', '-C', 'OUT', '-f', 'FILE')
    if TEXT.match(data[:4096]):
        return
    yield from files_of('bsdtar', data, '-x', '-f', 'FILE', '-C', 'OUT')
    yield from files_of('tar', data, '-x', '-i', '-f', 'FILE', '-C', 'OUT')
    yield from files_of('7z', data, 'x', '-y', '-p', '-oOUT', 'FILE')
    yield from files_of('7z', data, 'x', '-y', '-p', '-t#', '-oOUT', 'FILE')
    yield from files_of('unzip', data, '-qq', '-o', 'FILE', '-d', 'OUT')
    yield from files_of('cabextract', data, '-q', '-d', 'OUT', 'FILE')
    if data[:2] == b'\x60\xea':
        yield from files_of('arj', data, 'e', '-y', 'FILE', name='in.arj')
    yield from files_of('unar', data, '-q', '-f', '-o', 'OUT', 'FILE')


READERS = (by_script, by_lists, by_values, by_rows, by_letters, by_pictures, by_openpgp, by_listing, by_calls, by_zipfile, by_tarfile, by_streams, by_email, by_text_codings, by_runs, by_views, by_rtf, by_ole_package, by_onenote, by_pdf, by_mail_programs, by_programs)


def opener(payload, alone):
    seen = set()
    flat = re.sub(rb'\r\n?', b'\n', payload).strip()

    def is_payload(data):
        if alone:
            return len(data) <= len(payload) + 60 and data.strip(b' \t\r\n\x1a') == flat
        return flat in re.sub(rb'\r\n?', b'\n', data)

    def look(data, depth):
        if is_payload(data):
            return ''
        digest = hashlib.sha256(data).digest()
        if depth == DEEPEST or digest in seen:
            return None
        seen.add(digest)
        for reader in READERS:
            if reader in (by_mail_programs,) and not MAIL.match(data[:4096]):
                continue
            for inner in quietly(lambda: reader(data)):
                found = look(inner, depth + 1)
                if found is not None:
                    return f'{reader.__name__[3:]} {found}'.strip()
        return None

    return look


def answer(line):
    request = json.loads(line)
    with open(request['path'], 'rb') as file:
        data = file.read()
    found = opener(base64.b64decode(request['payload']), request['alone'])(data, 0)
    return json.dumps({'path': request['path'], 'found': found})


with ThreadPoolExecutor(2) as pool:
    for done in pool.map(answer, sys.stdin):
        print(done, flush=True)
