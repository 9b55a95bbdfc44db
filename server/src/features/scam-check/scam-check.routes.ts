import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addProviderDomain,
  checkScamFile,
  checkScamText,
  deleteScamCheck,
  distrustDomain,
  listProviderDomains,
  listScamChecks,
  listTrustedDomains,
  removeProviderDomain,
  SCAM_FILE_MAXIMUM,
  trustDomain,
} from '@palisade/contract/scam-check';
import type { FastifyRequest } from 'fastify';
import { nextPage } from '#platform/page.ts';
import { refuseField } from '#platform/platform.refusals.ts';
import { type Api, serve } from '#platform/serve.ts';
import { receiveUpload } from '#platform/upload.ts';
import { refuse } from './scam-check.refusals.ts';
import { checkOf, type ScamChecks } from './scam-check.ts';
import type { ScamDomains } from './scam-domains.ts';

/** Maximum bytes in memory for files of all people. */
const HELD_MAXIMUM = 100 * 1024 * 1024;
const STALL_MS = 30_000;
const SLOW = { window_ms: 30_000, bytes: 30 * 1024 } as const;

/** The file of a request, in memory: it is checked and not kept. */
async function receiveFile(
  request: FastifyRequest,
  { total_ms, take }: { total_ms: number; take: (bytes: number) => void },
): Promise<{ name: string; bytes: Uint8Array }> {
  const { filename, bytes } = await receiveUpload(request, {
    field: 'file',
    // Never written: files up to the maximum stay in memory.
    path: join(tmpdir(), randomUUID()),
    memory_bytes: SCAM_FILE_MAXIMUM,
    maximum: SCAM_FILE_MAXIMUM,
    stall_ms: STALL_MS,
    slow: SLOW,
    total_ms,
    take,
    signal: new AbortController().signal,
  });
  if (bytes === undefined || bytes.length === 0) throw refuseField('file', 'file.empty');
  return { name: filename, bytes: new Uint8Array(bytes) };
}

export function serveScamCheck(api: Api, parts: { checks: ScamChecks; domains: ScamDomains; upload_ms: number }): void {
  const { checks, domains, upload_ms } = parts;
  const kept = { find: ({ id }: { id: string }) => checks.find(id) };
  const trusted = { find: ({ id }: { id: string }) => domains.findTrusted(id) };
  /** Bytes of files being checked. */
  let held = 0;

  serve(api, checkScamText, 'customer', async ({ session, body, query }) => {
    const leave = await checks.admit(session.user.id);
    try {
      return await checks.check(session.user.id, { kind: 'text', text: body.text }, query);
    } finally {
      await leave();
    }
  });
  serve(api, checkScamFile, 'customer', async ({ session, query, request }) => {
    const leave = await checks.admit(session.user.id);
    let own = 0;
    try {
      const file = await receiveFile(request, {
        total_ms: upload_ms,
        take(bytes) {
          if (held + bytes > HELD_MAXIMUM) throw refuse('scam_check.too_many_files', {}, { retry_after: 5 });
          held += bytes;
          own += bytes;
        },
      });
      return await checks.check(session.user.id, { kind: 'file', ...file }, query);
    } finally {
      held -= own;
      await leave();
    }
  });

  serve(api, listScamChecks, 'customer', async ({ session, query, header, request }) => {
    const rows = await checks.list(session.user.id, query);
    return nextPage({ query, request, header }, rows).map(checkOf);
  });
  serve(api, deleteScamCheck, kept, ({ row }) => checks.remove(row));

  serve(api, listTrustedDomains, 'customer', ({ session }) => domains.trustedOf(session.user.id));
  serve(api, trustDomain, 'customer', ({ session, body }) => domains.trust(session.user.id, body.domain));
  serve(api, distrustDomain, trusted, ({ row }) => domains.distrust(row));

  serve(api, listProviderDomains, 'admin', () => domains.providerDomains());
  serve(api, addProviderDomain, 'admin', ({ body }) => domains.addProviderDomain(body.list, body.domain));
  serve(api, removeProviderDomain, 'admin', async ({ body }) => {
    await domains.removeProviderDomain(body.id);
    return { success: true as const };
  });
}
