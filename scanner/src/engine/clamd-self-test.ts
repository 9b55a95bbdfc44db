import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Content } from '#scanner/reading/content.ts';
import { type ClamdTimes, scanWithClamd } from './clamd-client.ts';
import type { ScannerAddress } from './scanner-url.ts';

/** EICAR, put together here, so that no file of the project is one. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join('');

/** Nesting beyond clamd's hard limit of 100 levels, whatever its MaxRecursion. */
const TOO_DEEP = 130;

/** A zip with one encrypted member ("hello", traditional encryption). */
const ENCRYPTED =
  'UEsDBAoACQAAAJpodV2GphA2EQAAAAUAAAAFAAAAaGVsbG8dMwkV76/o3/fGIHuV6ZmSbFBLBwiGphA2EQAAAAUAAABQSwECHgMKAAkAAACaaHVdhqYQNhEAAAAFAAAABQAAAAAAAAABAAAApIEAAAAAaGVsbG9QSwUGAAAAAAEAAQAzAAAARAAAAAAA';

function contentOf(bytes: Buffer): Content {
  return { size: bytes.length, bytes };
}

/** Different each time, so that no cached answer of an earlier configuration is used. */
function tooDeep(): Buffer {
  let packed: Buffer = randomBytes(16);
  for (let level = 0; level < TOO_DEEP; level += 1) packed = gzipSync(packed, { level: 1 });
  return packed;
}

export type SelfTest =
  | { kind: 'passed' }
  /** It answers wrongly. */
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string };

/**
 * Whether a clamd can be trusted. Debian's defaults fail open: files beyond a limit, or encrypted ones, count as OK. One switch controls all limits (AlertExceedsMax), so
 * the cheapest limit is tested: nesting depth.
 */
export async function testClamd(address: ScannerAddress, times: ClamdTimes): Promise<SelfTest> {
  const cases = [
    {
      bytes: Buffer.from(EICAR, 'latin1'),
      right: ['found'],
      wrong: 'it does not find the EICAR test file: its signatures are missing',
    },
    {
      bytes: tooDeep(),
      right: ['limit', 'found'],
      wrong: 'it calls clean what lies beyond its limits: set "AlertExceedsMax yes" in its clamd.conf',
    },
    {
      bytes: Buffer.from(ENCRYPTED, 'base64'),
      right: ['limit', 'found'],
      wrong: 'it calls encrypted archives clean: set "AlertEncrypted yes" in its clamd.conf',
    },
  ];
  for (const { bytes, right, wrong } of cases) {
    const answer = await scanWithClamd(address, contentOf(bytes), times);
    if (answer.kind === 'failed') return { kind: 'failed', reason: answer.reason };
    if (!right.includes(answer.kind)) return { kind: 'refused', reason: wrong };
  }
  return { kind: 'passed' };
}
