import { sessionFileSchema } from '@palisade/contract/remote-files';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect } from 'vitest';
import { newId } from '#platform/id.ts';
import type { TestApp } from './harness.ts';
import { updateRows } from './rows.ts';

type Database = Pick<TestApp, 'app'>;

/** Has a session that runs be as with a page of each side, in which everything of its browsers is allowed. */
export async function grantInBrowsers({ app: { database } }: Database, session_id: string): Promise<void> {
  const granted = { granted_at: '2026-11-20T10:00:00.000Z', granted_by: 'owner', device: null };
  const until = new Date(Date.now() + 600_000).toISOString();
  await updateRows(
    database,
    'remote_sessions',
    { id: session_id },
    {
      ...{ customer_seat: newId(), customer_until: until, customer_lost_at: null, customer_lost_by: null },
      ...{ technician_seat: newId(), technician_until: until, technician_lost_at: null, technician_lost_by: null },
      grants: JSON.stringify(['files', 'recording'].map((grant) => ({ grant, ...granted }))),
    },
  );
}

/** Until a file of a session has been found clean. */
export async function foundClean({ app: { database } }: Database, file_id: string): Promise<void> {
  await eventually(async () => {
    const row = await database.selectFrom('remote_files').select('status').where('id', '=', file_id).executeTakeFirstOrThrow();
    expect(row.status).toBe('clean');
  });
}

/** Sends a text file in a session, and answers its id. */
export async function sendInSession({ fetch }: Pick<TestApp, 'fetch'>, token: string, session_id: string): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob(['words']), 'a.txt');
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`/api/remote/sessions/${session_id}/files`, { method: 'POST', body, headers });
  return sessionFileSchema.parse(await answer.json()).id;
}
