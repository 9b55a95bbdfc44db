import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { readEngine } from '@palisade/contract/engine';
import { type Api, serve } from '#platform/serve.ts';
import type { ScanLimits } from './engines/limits.ts';
import type { EmbeddedEngine } from './engines/yara-pool.ts';
import type { Signatures } from './signatures.ts';

export function serveSignatures(api: Api, parts: { signatures: Signatures; engine: EmbeddedEngine; limits: ScanLimits }): void {
  const { signatures, engine, limits } = parts;
  serve(api, readEngine, 'customer', ({ session }) => {
    const { rules, hashes, ...status } = engine.status();
    const { feeds, ...facts } = signatures.status();
    const age_ms = signatures.age();
    return Promise.resolve({
      engines: [status],
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
