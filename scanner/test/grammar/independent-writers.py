"""Writes files with Python's own library: one JSON request a line ({"op", "inner", "name", ...}, bytes in base64), one answer a line."""
import base64, bz2, email.encoders, email.mime.base, email.mime.message, email.mime.multipart, email.mime.text, email.policy, gzip, io, json, lzma, pickle, plistlib, quopri, sys, tarfile, zipapp, zipfile, zlib

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
    'pickle': lambda inner, name, **_: pickle.dumps({'name': name, 'data': inner}, 4),
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
