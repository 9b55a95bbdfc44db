// Detects password protection in Office formats. An unreadable document must not be reported as clean.

const FIB = { magic: 0xa5ec, flags: 10, encrypted: 0x0100 } as const;
const BIFF = { first: [0x0009, 0x0209, 0x0409, 0x0809], file_pass: 0x002f, end: 0x000a } as const;
const RECORDS_MAXIMUM = 4096;
const CURRENT_USER_ENCRYPTED = 0xf3d1c4df;

/** Whether the record FilePass (MS-XLS 2.4.117) is among the first records of a workbook. */
function hasFilePass(stream: Buffer): boolean {
  if (stream.length < 4 || !BIFF.first.some((type) => type === stream.readUInt16LE(0))) return false;
  let at = 0;
  for (let count = 0; count < RECORDS_MAXIMUM && at + 4 <= stream.length; count += 1) {
    const type = stream.readUInt16LE(at);
    if (type === BIFF.file_pass) return true;
    if (type === BIFF.end) return false;
    at += 4 + stream.readUInt16LE(at + 2);
  }
  return false;
}

/**
 * Whether a stream of an OLE file shows that the document is encrypted: the file information block of Word (MS-DOC 2.5.2), the workbook of Excel, the current
 * user of PowerPoint (MS-PPT 2.3.2) or its encrypted summary, or the encrypted package of Office 2007 and later (MS-OFFCRYPTO 2.3.4).
 */
export function isLockedStream(name: string, stream: Buffer): boolean {
  switch (name.toLowerCase()) {
    case 'encryptedpackage':
    case 'encryptedsummary':
      return true;
    case 'worddocument':
      return (
        stream.length >= 12 && stream.readUInt16LE(0) === FIB.magic && (stream.readUInt16LE(FIB.flags) & FIB.encrypted) !== 0
      );
    case 'workbook':
    case 'book':
      return hasFilePass(stream);
    case 'current user':
      return stream.length >= 16 && stream.readUInt32LE(12) === CURRENT_USER_ENCRYPTED;
    default:
      return false;
  }
}

/** Algorithms that only obfuscate fonts (EPUB 3.3, 4.4), which is no encryption. */
const MADE_UNREADABLE = /http:\/\/www\.idpf\.org\/2008\/embedding|http:\/\/ns\.adobe\.com\/pdf\/enc#RC/g;
/** Password data of Pages, Numbers and Keynote. */
const IWORK = /(^|\/)\.iwp(?:v2|h)$/;

/** Decodes a manifest as Latin-1; of UTF-16, the zero bytes are removed. */
function asLatin(bytes: Buffer): string {
  const [first, second] = bytes;
  const is_wide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
  return is_wide ? bytes.toString('latin1').replaceAll('\0', '') : bytes.toString('latin1');
}

/**
 * Whether a member of an archive shows that other members are encrypted: the manifest of an OpenDocument file (ODF 1.3, part 2, 4.4), the list of encrypted
 * files of an EPUB book (EPUB 3.3, 4.2.6.3.2), or the password data of Apple's programs.
 */
export function isLockingManifest(name: string, bytes: Buffer): boolean {
  if (IWORK.test(name)) return true;
  if (/(^|\/)META-INF\/manifest\.xml$/i.test(name)) return /<(\w{1,32}:)?encryption-data[\s>/]/.test(asLatin(bytes));
  if (!/(^|\/)META-INF\/encryption\.xml$/i.test(name)) return false;
  const text = asLatin(bytes);
  const methods = text.match(/<(?:\w{1,32}:)?EncryptionMethod[\s>/]/g)?.length ?? 0;
  return methods > (text.match(MADE_UNREADABLE)?.length ?? 0);
}
