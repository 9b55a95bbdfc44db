import { expect, test } from 'vitest';
import { z } from 'zod';
import { apiDocument } from '#test/api-document.ts';
import { allEndpoints } from '#test/endpoints.ts';
import { endpointNames } from './api-names.ts';

const BYTES_MAXIMUM = 390_000;

const operationSchema = z.looseObject({ operationId: z.string(), summary: z.string(), tags: z.array(z.string()).length(1) });
const documentSchema = z.looseObject({
  info: z.looseObject({ license: z.object({ name: z.string(), identifier: z.string() }) }),
  servers: z.array(z.object({ url: z.string() })).min(1),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.record(z.string(), z.record(z.string(), z.unknown())),
});

test('every endpoint of the contract has its name', async () => {
  const names = endpointNames();
  expect((await allEndpoints()).filter(({ key }) => !names.has(key)).map(({ key }) => key)).toEqual([]);
});

test('the API description is small, names its operations, tags and schemas, and leads nowhere else', async () => {
  const text = await apiDocument();
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BYTES_MAXIMUM);
  const document = documentSchema.parse(JSON.parse(text));
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(['listAudit', 'listSessions', 'listRemoteSessions', 'scanFile']));
  const tags = new Set(operations.flatMap((operation) => operation.tags));
  expect(document.tags.map(({ name }) => name)).toEqual([...tags].sort());
  for (const { name, description } of document.tags) expect(description, name).toMatch(/^[A-Z].{10,}\.$/);
  const led = new Set([...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`));
  const there = Object.entries(document.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, members]) => Object.keys(members).map((name) => `${kind}/${name}`));
  expect([...led].sort()).toEqual(there.sort());
  // Names of records, as the contract has them.
  for (const name of ['AuditEntry', 'Conversation', 'Problem', 'RemoteSession', 'Scan'])
    expect(there).toContain(`schemas/${name}`);
});
