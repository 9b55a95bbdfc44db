import { createHmac } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { AuditTables } from './audit.ts';
import { type AuditVerdict, type Place, verifyAudit } from './audit-verify.ts';
import type { WitnessFile } from './audit-witness.ts';
import { dropFact, type InstallationTables, readFact, writeFact } from './installation.ts';
import { jobKind } from './jobs/job-kind.ts';

/** The job that checks the whole log. */
export const AUDIT_CHECK = jobKind({ name: 'audit.check', payload: z.object({}), every_ms: 86_400_000 });
const VERIFIED = 'audit_verified';

const noteSchema = z.object({ seq: z.int(), hash: z.string(), mac: z.string() });

/**
 * Checks the audit log. `check` reads only the entries after the last verified one, which is stored with an HMAC of the key. `checkAll` reads the whole log, which finds
 * changes of older entries; one server runs it once a day.
 */
export function createAuditCheck(parts: {
  database: Kysely<AuditTables & InstallationTables>;
  key: Buffer;
  file: Pick<WitnessFile, 'read'>;
  logger: Pick<FastifyBaseLogger, 'error'>;
}): { check: () => Promise<AuditVerdict>; checkAll: () => Promise<void> } {
  const { database, key, file, logger } = parts;
  const facts = database.$pickTables<'installation'>();
  const macOf = ({ seq, hash }: Place) =>
    createHmac('sha256', key)
      .update(JSON.stringify(['palisade audit verified 1', seq, hash]))
      .digest('hex');

  async function readVerified(): Promise<Place | undefined> {
    const fact = await readFact(facts, VERIFIED);
    const note = fact === undefined ? undefined : noteSchema.safeParse(JSON.parse(fact)).data;
    return note?.mac === undefined || note.mac !== macOf(note) ? undefined : note;
  }

  async function verifyAfter(verified: Place | undefined): Promise<AuditVerdict> {
    const mark = file.read();
    const log = database.$pickTables<'audit_entries' | 'audit_head'>();
    const verdict = await verifyAudit(log, { key, marks: mark === undefined ? [] : [mark], verified });
    const { entries: seq, head, fault } = verdict;
    const place = { seq, hash: head.slice(head.indexOf(':') + 1) };
    if (fault !== null) await dropFact(facts, VERIFIED);
    else if (seq !== verified?.seq) await writeFact(facts, VERIFIED, JSON.stringify({ ...place, mac: macOf(place) }));
    return verdict;
  }

  return {
    check: async () => await verifyAfter(await readVerified()),
    async checkAll() {
      const { fault } = await verifyAfter(undefined);
      if (fault !== null) logger.error({ fault }, 'the audit log failed its check: run palisade verify');
    },
  };
}
