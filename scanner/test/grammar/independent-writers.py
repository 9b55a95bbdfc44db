"""Writes files with Python's own library: one JSON request a line ({"op", "inner", "name", ...}, bytes in base64), one answer a line."""
import base64, binascii, bz2, email.encoders, email.mime.base, email.mime.message, email.mime.multipart, email.mime.text, email.policy, gzip, io, json, importlib.util, lzma, marshal, os, pickle, plistlib, quopri, random, sqlite3, struct, sys, tarfile, tempfile, zipapp, zipfile, zlib

MTIME = 1_700_000_000
HARMLESS = b'Nothing to see here: this is a harmless text. ' * 8


class Unseekable(io.RawIOBase):
    """As a pipe: what is written to it cannot be mended later."""

    def __init__(self):
        self.bytes = bytearray()

    def writable(self):
        return True

    def write(self, piece):
        self.bytes += piece
        return len(piece)


def make_zip(inner, name, method='deflate', zip64=False, streamed=False, prefix=b'', comment=b'', more=False, **_):
    methods = {'stored': zipfile.ZIP_STORED, 'deflate': zipfile.ZIP_DEFLATED, 'bzip2': zipfile.ZIP_BZIP2, 'lzma': zipfile.ZIP_LZMA}
    target = Unseekable() if streamed else io.BytesIO(prefix)
    with zipfile.ZipFile(target, 'w' if not prefix else 'a', methods[method]) as archive:
        if more:
            archive.writestr(zipfile.ZipInfo('readme.txt'), HARMLESS)
        entry = zipfile.ZipInfo(name)
        entry.compress_type = methods[method]
        with archive.open(entry, 'w', force_zip64=zip64) as file:
            file.write(inner)
        if more:
            archive.writestr('folder/other.txt', HARMLESS)
        archive.comment = comment
    return bytes(target.bytes) if streamed else target.getvalue()


def make_tar(inner, name, format='ustar', long=False, more=False, type=None, **_):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode='w', format={'ustar': tarfile.USTAR_FORMAT, 'gnu': tarfile.GNU_FORMAT, 'pax': tarfile.PAX_FORMAT}[format]) as archive:
        def add(entry_name, content):
            entry = tarfile.TarInfo(entry_name)
            entry.size, entry.mtime = len(content), MTIME
            if type is not None and entry_name.endswith(name):
                entry.type = type.encode()
            archive.addfile(entry, io.BytesIO(content))
        if more:
            add('readme.txt', HARMLESS)
        add('folder/' * 20 + name if long else name, inner)
    return target.getvalue()


def make_gzip(inner, name, **_):
    target = io.BytesIO()
    with gzip.GzipFile(filename=name, mode='wb', fileobj=target, mtime=MTIME) as file:
        file.write(inner)
    return target.getvalue()


def make_lzma(inner, name, lc=3, lp=0, pb=2, dictionary=1 << 16, **_):
    return lzma.compress(inner, lzma.FORMAT_ALONE, filters=[{'id': lzma.FILTER_LZMA1, 'dict_size': dictionary, 'lc': lc, 'lp': lp, 'pb': pb}])


def make_xz(inner, name, check='crc64', filter=None, **_):
    checks = {'crc64': lzma.CHECK_CRC64, 'crc32': lzma.CHECK_CRC32, 'none': lzma.CHECK_NONE, 'sha256': lzma.CHECK_SHA256}
    filters = [{'id': lzma.FILTER_LZMA2, 'preset': 6}]
    if filter is not None:
        filters.insert(0, {'id': lzma.FILTER_X86} if filter == 'x86' else {'id': lzma.FILTER_DELTA, 'dist': 2})
    return lzma.compress(inner, lzma.FORMAT_XZ, check=checks[check], filters=filters)


def make_mail(inner, name, encoding='base64', nested=False, type='application/octet-stream', **_):
    mail = email.mime.multipart.MIMEMultipart()
    mail['From'], mail['To'], mail['Subject'] = 'anna@example.com', 'berta@example.com', 'the file'
    mail.attach(email.mime.text.MIMEText('Hello Berta,\n\nhere is the file.\n'))
    part = email.mime.base.MIMEBase(*type.split('/'))
    part.set_payload(inner)
    if encoding == 'base64':
        email.encoders.encode_base64(part)
    elif encoding == 'quoted-printable':
        email.encoders.encode_quopri(part)
    else:
        email.encoders.encode_7or8bit(part)
    part.add_header('Content-Disposition', 'attachment', filename=name)
    mail.attach(part)
    if nested:
        outer = email.mime.multipart.MIMEMultipart()
        outer['From'], outer['To'], outer['Subject'] = 'berta@example.com', 'carla@example.com', 'Fwd: the file'
        outer.attach(email.mime.text.MIMEText('See below.\n'))
        outer.attach(email.mime.message.MIMEMessage(mail))
        mail = outer
    return mail.as_bytes(policy=email.policy.SMTP if encoding != '8bit' else email.policy.compat32)


def make_zipapp(inner, name, **_):
    zipped = make_zip(inner, name, prefix=b'#!/usr/bin/env python3\n')
    return zipped


def make_numpy(inner, name, kind, **_):
    """As numpy/lib/format.py says: a head, filled up to 64 bytes, and the elements."""
    if kind in ('<U', '>U'):
        text = inner.decode('utf-8')
        elements = ['first', text]
        size = max(len(one) for one in elements)
        descr, shape = f"'{kind}{size}'", '(2,)'
        data = b''.join(one.ljust(size, '\0').encode('utf-32-le' if kind == '<U' else 'utf-32-be') for one in elements)
    elif kind == 'S':
        descr, shape, data = f"'|S{len(inner)}'", '(2,)', b'first'.ljust(len(inner), b'\0')[: len(inner)] + inner
    elif kind == 'u':
        descr, shape, data = "'<u2'", f'({len(inner)},)', b''.join(struct.pack('<H', byte) for byte in inner)
    else:
        descr, shape, data = "'|O'", '(2,)', pickle.dumps(['first', inner], 3)
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(64 * ((len(head) + 11 + 63) // 64) - 11) + '\n'
    return b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) + head.encode() + data


ZEROMQ = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'


def make_base85(inner, name, kind, literal=False, **_):
    if kind == 'adobe':
        return base64.a85encode(inner, wrapcol=72) + b'\n'
    if kind == 'python':
        letters = base64.b85encode(inner).decode()
        return (f'data = {letters!r}\n' if literal else '\n'.join(letters[at : at + 76] for at in range(0, len(letters), 76)) + '\n').encode()
    padded = inner + bytes(-len(inner) % 4)
    numbers = struct.unpack(f'>{len(padded) // 4}I', padded)
    return ''.join(ZEROMQ[number // 85**place % 85] for number in numbers for place in (4, 3, 2, 1, 0)).encode() + b'\n'


def make_pdf_letters(inner, name, packed=False, digits=False, **_):
    stream = binascii.hexlify(inner) if digits else base64.encodebytes(inner)
    if packed:
        stream = zlib.compress(stream)
    filter = b'/Filter /FlateDecode ' if packed else b''
    return b'%%PDF-1.5\n1 0 obj\n<</Type /Catalog /Pages 2 0 R /Other 3 0 R>>\nendobj\n2 0 obj\n<</Type /Pages /Kids [] /Count 0>>\nendobj\n3 0 obj\n<<%s/Length %d>>\nstream\n%s\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%%%EOF\n' % (filter, len(stream), stream)


def make_sqlite(inner, name, text=False, **_):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'a.db')
        database = sqlite3.connect(path)
        database.execute('create table files (id integer primary key, name text, body)')
        for row in range(20):
            database.execute('insert into files (name, body) values (?, ?)', (f'name {row}', HARMLESS.decode()))
        database.execute('insert into files (name, body) values (?, ?)', (name, inner.decode('utf-8') if text else inner))
        database.commit()
        database.close()
        with open(path, 'rb') as file:
            return file.read()


def make_compiled(inner, name, **_):
    code = compile(f'data = {inner!r}\nprint(len(data))\n', name, 'exec')
    return importlib.util.MAGIC_NUMBER + struct.pack('<III', 0, MTIME, len(inner)) + marshal.dumps(code)


def make_card(inner, name, directory=False, **_):
    letters = base64.b64encode(inner).decode()
    if directory:
        first = 'jpegPhoto:: ' + letters
        folded = [first[:76]] + [' ' + first[at : at + 75] for at in range(76, len(first), 75)]
        return '\n'.join(['version: 1', 'dn: cn=anna,dc=example,dc=com', 'cn: anna', *folded, '']).encode()
    first = 'PHOTO;ENCODING=b;TYPE=JPEG:' + letters
    folded = [first[:75]] + [' ' + first[at : at + 74] for at in range(75, len(first), 74)]
    return '\r\n'.join(['BEGIN:VCARD', 'VERSION:3.0', 'FN:Anna', *folded, 'END:VCARD', '']).encode()


def der(tag, body):
    size = len(body)
    head = bytes([size]) if size < 128 else (lambda digits: bytes([0x80 + len(digits)]) + digits)(size.to_bytes((size.bit_length() + 7) // 8, 'big'))
    return bytes([tag]) + head + body


def make_cms(inner, name, **_):
    """RFC 5652, 4: content that is data."""
    return der(0x30, bytes.fromhex('06092a864886f70d010701') + der(0xA0, der(4, inner)))


def make_game(inner, name, kind, **_):
    body = HARMLESS + inner
    files = [(b'FIRST', 0, len(HARMLESS)), (b'SECOND', len(HARMLESS), len(inner))]
    if kind == 'wad':
        return struct.pack('<4sII', b'PWAD', 2, 12 + len(body)) + body + b''.join(struct.pack('<II8s', 12 + at, size, one) for one, at, size in files)
    return struct.pack('<4sII', b'PACK', 12 + len(body), 128) + body + b''.join(struct.pack('<56sII', one, 12 + at, size) for one, at, size in files)


XX = b'+-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'


def make_xxencode(inner, name, **_):
    rows = []
    for at in range(0, len(inner), 45):
        row = binascii.b2a_uu(inner[at : at + 45]).rstrip(b'\n')
        rows.append(bytes(XX[(letter - 32) & 63] for letter in row))
    return b'begin 644 ' + name.encode() + b'\n' + b'\n'.join(rows) + b'\n+\nend\n'


def pieces_of(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


def shown(data):
    return bytes(byte if 32 <= byte < 127 else 46 for byte in data)


def cbor_pieces(data, first, size):
    """RFC 8949, 3.2.3."""
    head = lambda length: bytes([first - 31 + length]) if length < 24 else bytes([first - 7, length])
    return bytes([first]) + b''.join(head(len(piece)) + piece for piece in pieces_of(data, size)) + b'\xff'


def bytea(data):
    """The older form of bytea (PostgreSQL manual, 8.4.2)."""
    return b''.join(b'\\\\' if byte == 92 else bytes([byte]) if 32 <= byte < 127 else b'\\%03o' % byte for byte in data)


MYSQL = {0: b'\\0', 10: b'\\n', 13: b'\\r', 26: b'\\Z', 34: b'\\"', 39: b"\\'", 92: b'\\\\'}
DUMP_OF_MYSQL = b"-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n--\n-- Host: localhost    Database: anna's\n-- ------------------------------------------------------\n\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `files`;\nCREATE TABLE `files` (\n  `id` int NOT NULL,\n  `body` longblob\n) ENGINE=InnoDB;\nLOCK TABLES `files` WRITE;\n"
DUMP_OF_POSTGRES = b"--\n-- PostgreSQL database dump\n--\n\nSET standard_conforming_strings = on;\n\n"


def make_rows(inner, name, kind, **_):
    """What programs print of bytes, as their manuals and sources say."""
    if kind == 'dxf':
        return b'  0\nSECTION\n  2\nTHUMBNAILIMAGE\n 90\n%9d\n' % len(inner) + b''.join(b'310\n%s\n' % piece.hex().upper().encode() for piece in pieces_of(inner, 32)) + b'  0\nENDSEC\n  0\nEOF\n'
    if kind == 'curl':
        rows = lambda data: b''.join(b'%04x: %-48s%s\n' % (16 * number, b''.join(b'%02x ' % byte for byte in row), shown(row)) for number, row in enumerate(pieces_of(data, 16)))
        head = b'Content-Type: application/octet-stream\r\n'
        return b'== Info:   Trying 127.0.0.1:80...\n<= Recv header, %d bytes (0x%x)\n' % (len(head), len(head)) + rows(head) + b''.join(b'<= Recv data, %d bytes (0x%x)\n' % (len(piece), len(piece)) + rows(piece) for piece in pieces_of(inner, 1370)) + b'== Info: Closing connection 0\n'
    if kind == 'log':
        return b''.join(b'2026-11-23 12:%02d:%02d.%03d DEBUG io: rx %s\n' % (number // 60 % 60, number % 60, number % 1000, row.hex(' ').encode()) for number, row in enumerate(pieces_of(inner, 20)))
    if kind == 'log-piece':
        return b''.join(b'[%d.%06d] dev 3: %s\n' % (number // 50, number * 7919 % 1000000, row.hex().encode()) for number, row in enumerate(pieces_of(inner, 24)))
    if kind == 'gdb':
        return b''.join(b'0x5555%08x:\t%s\n' % (8 * number, b'\t'.join(b'0x%02x' % byte for byte in row)) for number, row in enumerate(pieces_of(inner, 8)))
    if kind == 'windbg':
        return b''.join(b'00000000`%08x  %s%s%s  %s\n' % (16 * number, row[:8].hex(' ').encode(), b'-' if len(row) > 8 else b'', row[8:].hex(' ').encode(), shown(row)) for number, row in enumerate(pieces_of(inner, 16)))
    if kind == 'oracle':
        return b'declare b blob;\nbegin\ndbms_lob.createtemporary(b, true);\n' + b''.join(b"dbms_lob.append(b, hextoraw('%s'));\n" % piece.hex().encode() for piece in pieces_of(inner, 50)) + b'end;\n'
    if kind in ('cbor', 'cbor-text'):
        return b'\xbf\x64name\x65a.bin\x64data' + cbor_pieces(inner, 0x5F if kind == 'cbor' else 0x7F, 40) + b'\xff'
    if kind in ('mysql', 'mysql-compact'):
        value = b''.join(MYSQL.get(byte, bytes([byte])) for byte in inner)
        return (DUMP_OF_MYSQL if kind == 'mysql' else b'') + b"INSERT INTO `files` VALUES (1,_binary '%s'),(2,_binary 'x');\n" % value + (b'UNLOCK TABLES;\n' if kind == 'mysql' else b'')
    if kind == 'copy':
        return DUMP_OF_POSTGRES + b'COPY public.files (id, body) FROM stdin;\n1\t%s\n2\tx\n\\.\n' % bytea(inner).replace(b'\\', b'\\\\')
    return DUMP_OF_POSTGRES + b"INSERT INTO public.files VALUES (1, '%s');\n" % bytea(inner).replace(b"'", b"''")


def make_blocks(inner, name, kind, plain, blocks, **_):
    """Blocks that lz4 packed, in the frames of libraries: lz4-java 1.8, python-lz4 4.0."""
    plain, blocks = ([base64.b64decode(word) for word in words.split(' ')] for words in (plain, blocks))
    if kind == 'lz4-size':
        return struct.pack('<I', len(plain[0])) + blocks[0]
    if kind == 'lz4-java':
        head = lambda method, packed, size: b'LZ4Block' + struct.pack('<BIII', method | 6, packed, size, 0)
        return b''.join(head(0x20, len(block), len(one)) + block for one, block in zip(plain, blocks)) + head(0x10, 0, 0)


MAKERS = {
    'zip': make_zip,
    'tar': make_tar,
    'gzip': make_gzip,
    'bzip2': lambda inner, name, **_: bz2.compress(inner),
    'xz': make_xz,
    'lzma': make_lzma,
    'zlib': lambda inner, name, **_: zlib.compress(inner),
    'mail': make_mail,
    'zipapp': make_zipapp,
    'plist': lambda inner, name, **_: plistlib.dumps({'WebMainResource': {'name': name, 'data': inner}}, fmt=plistlib.FMT_BINARY),
    'pickle': lambda inner, name, protocol=4, **_: pickle.dumps({'name': name, 'data': inner}, protocol),
    'numpy': make_numpy,
    'base85': make_base85,
    'pdf-letters': make_pdf_letters,
    'sqlite': make_sqlite,
    'compiled': make_compiled,
    'card': make_card,
    'zlib-within': lambda inner, name, **_: random.Random(7).randbytes(64) + zlib.compress(inner) + random.Random(8).randbytes(64),
    'cms': make_cms,
    'game': make_game,
    'xxencode': make_xxencode,
    'rows': make_rows,
    'blocks': make_blocks,
    'quoted-printable': lambda inner, name, **_: quopri.encodestring(inner, quotetabs=True),
    'text': lambda inner, name, codec, **_: inner.decode('utf-8').encode(codec),
}

for line in sys.stdin:
    request = json.loads(line)
    arguments = {key: base64.b64decode(value) if key in ('inner', 'prefix', 'comment') else value for key, value in request.items() if key != 'op'}
    try:
        answer = {'bytes': base64.b64encode(MAKERS[request['op']](**arguments)).decode()}
    except Exception as error:
        answer = {'error': f'{request["op"]}: {error!r}'}
    print(json.dumps(answer), flush=True)
