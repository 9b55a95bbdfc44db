import { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { Origin } from '#platform/origin.ts';
import type { PersonalPart, Subject } from '#platform/personal-data.ts';

/** A file with all data about a person. */
export interface Export {
  /** JSON, read from the database while it is sent: an object with a list for each part. */
  of(subject: Subject, origin: Origin): Promise<Readable>;
}

/** `parts` are those of all features, in the order of the file. */
export function createExport({
  database,
  audit,
  parts,
  now,
}: {
  database: Kysely<AuditTables>;
  audit: Audit;
  parts: readonly PersonalPart[];
  now: () => number;
}): Export {
  async function* write(subject: Subject) {
    yield `{\n"exported_at": ${JSON.stringify(new Date(now()).toISOString())}`;
    for (const { name, rows } of parts) {
      yield `,\n${JSON.stringify(name)}: [`;
      let separator = '\n';
      for await (const row of rows(subject)) {
        yield separator + JSON.stringify(row);
        separator = ',\n';
      }
      yield ']';
    }
    yield '\n}\n';
  }

  return {
    async of(subject, origin) {
      await audit.record(database, { kind: 'data_exported', subject_id: subject.id, actor_id: subject.id, origin });
      return Readable.from(write(subject));
    },
  };
}
