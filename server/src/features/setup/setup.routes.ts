import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkLogo, LOGO_BYTES_MAXIMUM, setupConfig } from '@palisade/contract/setup';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { writeBrand } from '#platform/brand.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { type InstallationTables, writeSetup } from '#platform/installation.ts';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import { receiveUpload } from '#platform/upload.ts';
import { readLogoApart } from './logo-reader.ts';
import { refuseField } from './setup.refusals.ts';

const UPLOAD_MS = { stall_ms: 30_000, total_ms: 120_000, slow: { window_ms: 30_000, bytes: 1_024 } } as const;

/** The file of a request, in memory. */
async function receiveLogo(request: FastifyRequest): Promise<Uint8Array> {
  let size = 0;
  const { bytes } = await receiveUpload(request, {
    field: 'file',
    // Never written: a file of the maximum stays in memory.
    path: join(tmpdir(), randomUUID()),
    ...{ memory_bytes: LOGO_BYTES_MAXIMUM, maximum: Number.POSITIVE_INFINITY, ...UPLOAD_MS },
    take(more) {
      size += more;
      if (size > LOGO_BYTES_MAXIMUM) throw refuseField('file', 'logo.too_many_bytes', { maximum: LOGO_BYTES_MAXIMUM });
    },
    signal: new AbortController().signal,
  });
  return bytes ?? new Uint8Array();
}

export function serveSetup(api: Api, database: Kysely<InstallationTables & AuditTables>, audit: Audit): void {
  serve(api, checkLogo, 'admin', async ({ request }) => {
    const { png, ...size } = await readLogoApart(await receiveLogo(request), 'file');
    return { ...size, png: Buffer.from(png).toString('base64') };
  });
  serve(api, setupConfig, 'admin', async ({ session, body, request }) => {
    const { id } = session.user;
    const { brand = {}, ...setup } = body;
    const logo =
      typeof brand.logo === 'string' ? await readLogoApart(Buffer.from(brand.logo, 'base64'), 'brand.logo') : brand.logo;
    await inTransaction(database, async (transaction) => {
      const installation = transaction.$pickTables<'installation'>();
      await writeSetup(installation, setup);
      await writeBrand(installation, { accent: brand.accent, logo });
      await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: 'setup_changed',
        subject_id: id,
        actor_id: id,
        origin: originOf(request),
        details: { company_name: body.client_info.company_name },
      });
    });
    return { success: true as const };
  });
}
