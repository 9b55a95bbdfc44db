import { deflateRawSync } from 'node:zlib';

/** A file for Playwright's file chooser. */
export interface SampleFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

// Joined here, so that no file of the project is the EICAR test file.
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join('');

const CLEAN_PDF =
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n';

/** A zip with one member (APPNOTE 4.3). Checksums are zero, which no reader in these tests verifies. */
function zipOf(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), packed]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

export const eicarFile: SampleFile = { name: 'eicar.com', mimeType: 'application/octet-stream', buffer: Buffer.from(EICAR) };
export const cleanPdf: SampleFile = { name: 'paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from(CLEAN_PDF) };
/** EICAR in a zip inside a zip. */
export const nestedZip: SampleFile = {
  name: 'delivery.zip',
  mimeType: 'application/zip',
  buffer: zipOf('inner.zip', zipOf('eicar.com', Buffer.from(EICAR))),
};
