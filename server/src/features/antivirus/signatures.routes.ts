import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { type EngineStatus, readEngine } from '@palisade/contract/engine';
import { type Api, serve } from '#platform/serve.ts';
import type { ClamdPool } from './engines/clamd-pool.ts';
import type { ScanLimits } from './engines/limits.ts';
import type { YaraPool } from './engines/yara-pool.ts';
import type { Signatures } from './signatures.ts';

/** The pool of clamds as one engine: ready while one of them can be believed. */
function clamdStatus(clamd: ClamdPool): EngineStatus['engines'][number] {
  const members = clamd.health();
  const trusted = members.filter(({ state }) => state === 'trusted');
  const [first] = trusted;
  const waits = members.some(({ state }) => state === 'untested');
  return {
    name: 'ClamAV',
    version: first?.version ?? null,
    signatures_version: first?.signatures_version ?? null,
    state: first !== undefined ? 'ready' : waits ? 'starting' : 'down',
    processes: { ready: trusted.length, wanted: members.length },
  };
}

export function serveSignatures(
  api: Api,
  parts: { signatures: Signatures; embedded: YaraPool; clamd: ClamdPool | undefined; limits: ScanLimits },
): void {
  const { signatures, embedded, clamd, limits } = parts;
  serve(api, readEngine, 'customer', ({ session }) => {
    const { rules, hashes, ...status } = embedded.status();
    const { feeds, ...facts } = signatures.status();
    const age_ms = signatures.age();
    return Promise.resolve({
      engines: clamd === undefined ? [status] : [status, clamdStatus(clamd)],
      signatures: { ...facts, rules, hashes, age_hours: age_ms === undefined ? null : Math.round(age_ms / 360_000) / 10 },
      limits: {
        upload_bytes: UPLOAD_MAXIMUM,
        unpacked_bytes: limits.unpacked_bytes,
        members: limits.members,
        depth: limits.depth,
        time_ms: limits.time_ms,
      },
      feeds: session.user.role === 'admin' ? feeds : null,
    });
  });
}
