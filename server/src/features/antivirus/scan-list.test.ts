import { countScans, listScans, type Scan } from '@palisade/contract/antivirus';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';
import { scanned } from '#test/upload.ts';

const PAGE = 500;
/** Records of each name beside those that were scanned. */
const COPIES = 1_200;

describe('a history of more than a thousand records', async () => {
  const app = await startTestApp();
  const { call } = app;
  const { token } = await app.signIn('maria');
  const { token: stranger } = await app.signIn('tom');

  const first = await scanned(app, token, 'first.txt', Buffer.from('the oldest record'));
  const row = await app.app.database.selectFrom('scans').selectAll().where('id', '=', first.id).executeTakeFirstOrThrow();
  const idAt = (place: number) =>
    `0${(0x193_0000_0000 + place).toString(16)}`.padStart(12, '0').replace(/^(.{8})(.{4})$/u, '$1-$2-7000-8000-000000000000');
  for (let place = 0; place < COPIES; place += 100) {
    await insertRow(
      app.app.database,
      'scans',
      Array.from({ length: 100 }, (_, offset) => {
        const number = place + offset;
        const infected = number === 7 ? { scan_status: 'infected' as const, threat_detected: 'Very.Odd%Threat' } : {};
        return { ...row, id: idAt(number), filename: `Paper ${String(number).padStart(4, '0')}.pdf`, size: number, ...infected };
      }),
    );
  }

  const listed = async (query: string): Promise<Scan[]> => replyOf(await call(listScans, { token, query }));
  async function all(query: string): Promise<Scan[]> {
    const rows: Scan[] = [];
    for (let next: string | undefined = `?limit=${PAGE}&${query}`; next !== undefined; ) {
      const answer: Awaited<ReturnType<typeof call<typeof listScans>>> = await call(listScans, { token, query: next });
      rows.push(...replyOf(answer));
      next = /<[^?]*(\?[^>]*)>; rel="next"/u.exec(answer.headers.get('link') ?? '')?.[1];
    }
    return rows;
  }

  test('is counted over all pages', async () => {
    expect(replyOf(await call(countScans, { token }))).toEqual({ clean: COPIES, infected: 1, pending: 0, test_files: 0 });
    expect(replyOf(await call(countScans, { token, query: '?search=odd%25' }))).toEqual({
      clean: 0,
      infected: 1,
      pending: 0,
      test_files: 0,
    });
    expect(replyOf(await call(countScans, { token: stranger }))).toEqual({ clean: 0, infected: 0, pending: 0, test_files: 0 });
  });

  test('is filtered by status, and searched by the names of files and threats, in any case of letters', async () => {
    expect(await listed('?status=infected')).toMatchObject([{ filename: 'Paper 0007.pdf' }]);
    expect(await listed('?search=PAPER%200042')).toMatchObject([{ filename: 'Paper 0042.pdf' }]);
    expect(await listed('?search=very.odd')).toMatchObject([{ filename: 'Paper 0007.pdf' }]);
    // Wildcards of the database are plain text here.
    expect(await listed('?search=%25')).toHaveLength(1);
    expect(await listed('?search=_aper')).toEqual([]);
    expect(problemOf(await call(listScans, { token, query: '?status=lost' })).status).toBe(422);
    expect(problemOf(await call(listScans, { token, query: `?search=${'x'.repeat(101)}` })).status).toBe(422);
  });

  test.each([
    ['newest', (one: Scan, other: Scan) => (one.id < other.id ? 1 : -1)],
    ['oldest', (one: Scan, other: Scan) => (one.id < other.id ? -1 : 1)],
    ['name', (one: Scan, other: Scan) => (one.filename.toLowerCase() < other.filename.toLowerCase() ? -1 : 1)],
    ['largest', (one: Scan, other: Scan) => other.size - one.size || (one.id < other.id ? 1 : -1)],
  ])('by %s gives each record once, page by page', async (sort, compare) => {
    const rows = await all(`sort=${sort}`);
    expect(rows).toHaveLength(COPIES + 1);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.map(({ id }) => id)).toEqual(rows.toSorted(compare).map(({ id }) => id));
  });

  test('says what to do where the record that a page follows is gone', async () => {
    const gone = idAt(COPIES + 1);
    expect(problemOf(await call(listScans, { token, query: `?sort=name&cursor=${gone}` }))).toMatchObject({
      status: 422,
      errors: [{ field: 'cursor', message: 'That entry was deleted. Reload the list.' }],
    });
    expect((await call(listScans, { token, query: `?sort=newest&cursor=${gone}` })).status).toBe(200);
  });
});
