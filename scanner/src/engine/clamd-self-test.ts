import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Content } from '#scanner/reading/content.ts';
import { type ClamdTimes, scanWithClamd } from './clamd-client.ts';
import type { ScannerAddress } from './scanner-url.ts';

/** EICAR, put together here, so that no file of the project is one. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join('');

/** clamd goes 100 levels deep at most, whatever its MaxRecursion. */
const TOO_DEEP = 130;

/** A zip with one member behind a password ("hello", traditional encryption). */
const ENCRYPTED =
  'UEsDBAoACQAAAJpodV2GphA2EQAAAAUAAAAFAAAAaGVsbG8dMwkV76/o3/fGIHuV6ZmSbFBLBwiGphA2EQAAAAUAAABQSwECHgMKAAkAAACaaHVdhqYQNhEAAAAFAAAABQAAAAAAAAABAAAApIEAAAAAaGVsbG9QSwUGAAAAAAEAAQAzAAAARAAAAAAA';

function contentOf(bytes: Buffer): Content {
  return { size: bytes.length, bytes };
}

/** New each time, so that no answer of an earlier configuration is remembered for it. */
function tooDeep(): Buffer {
  let packed: Buffer = randomBytes(16);
  for (let level = 0; level < TOO_DEEP; level += 1) packed = gzipSync(packed, { level: 1 });
  return packed;
}

export type SelfTest =
  | { kind: 'passed' }
  /** It answers, and wrong. */
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string };

/**
 * Whether a clamd may be believed. Debian's defaults fail open: what lies beyond a limit, or behind a password, is OK there. One switch serves all limits
 * (AlertExceedsMax), so the one that costs least to pass is passed: an archive that is nested too deep.
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
