import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { type EngineStatus, readEngine } from '@palisade/contract/engine';
import { may } from '@palisade/contract/may';
import type { ClamdPool } from '@palisade/scanner/clamd-pool';
import type { ScanLimits } from '@palisade/scanner/limits';
import type { YaraPool } from '@palisade/scanner/yara-pool';
import { type Api, serve } from '#platform/serve.ts';
import type { Signatures } from './signatures.ts';

/** The pool of clamds as one engine: ready while at least one is trusted. */
export function clamdStatus(clamd: ClamdPool): EngineStatus['engines'][number] {
  const members = clamd.health();
  const trusted = members.filter(({ state }) => state === 'trusted');
  const [first] = trusted;
  const waits = members.some(({ state }) => state === 'untested');
  return {
    name: 'ClamAV',
    kind: null,
    note: null,
    version: first?.version ?? null,
    signatures_version: first?.signatures_version ?? null,
    state: first !== undefined ? 'ready' : waits ? 'starting' : 'down',
    // When searching default locations, one found is enough.
    processes: { ready: trusted.length, wanted: clamd.looked_for ? Math.max(1, trusted.length) : members.length },
  };
}

/** The status of a clamd that was found and answers. */
function foundScanner(clamd: ClamdPool | undefined): EngineStatus['found_scanner'] {
  if (clamd?.looked_for !== true) return null;
  const members = clamd.health();
  const found = members.find(({ state }) => state === 'trusted') ?? members.find(({ state }) => state === 'refused');
  return found === undefined ? null : { address: found.address, used: found.state === 'trusted', reason: found.reason };
}

export function serveSignatures(
  api: Api,
  parts: { signatures: Signatures; embedded: YaraPool; clamd: ClamdPool | undefined; limits: ScanLimits },
): void {
  const { signatures, embedded, clamd, limits } = parts;
  serve(api, readEngine, 'customer', ({ session }) => {
    const { rules, hashes, memory, ...status } = embedded.status();
    const { feeds, ...facts } = signatures.status();
    const age_ms = signatures.age();
    return Promise.resolve({
      engines: clamd?.present() === true ? [status, clamdStatus(clamd)] : [status],
      signatures: { ...facts, rules, hashes, age_hours: age_ms === undefined ? null : Math.round(age_ms / 360_000) / 10 },
      limits: {
        upload_bytes: UPLOAD_MAXIMUM,
        unpacked_bytes: limits.unpacked_bytes,
        members: limits.members,
        depth: limits.depth,
        time_ms: limits.time_ms,
      },
      found_scanner: may.administrate(session.user) ? foundScanner(clamd) : null,
      feeds: may.administrate(session.user)
        ? feeds.map(({ id, ...feed }) => ({ ...feed, memory_bytes: memory.find((one) => one.id === id)?.bytes ?? null }))
        : null,
    });
  });
}
