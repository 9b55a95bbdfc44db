// proves: asvs-15.3.6
import { problemSchema } from '@palisade/contract/problem';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiDocument } from '#test/api-document.ts';
import { startListeningApp } from '#test/harness.ts';

const operationSchema = z.object({
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  requestBody: z
    .object({ content: z.record(z.string(), z.object({ schema: z.object({ required: z.array(z.string()).optional() }) })) })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
});
const openApiSchema = z.object({
  security: z.unknown(),
  paths: z.record(z.string(), z.object({ post: operationSchema.optional() })),
});

describe('every call', async () => {
  const { url, signIn } = await startListeningApp();
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/api${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const problem = async (response: Response) => ({
    type: response.headers.get('content-type'),
    status: response.status,
    code: problemSchema.parse(await response.json()).code,
  });
  const TYPE = 'application/problem+json; charset=utf-8';

  test('an unknown address below /api is a problem document', async () => {
    expect(await problem(await fetch(`${url}/api/nothing/here`))).toEqual({ type: TYPE, status: 404, code: 'not_found' });
    expect(await problem(await post('/config', '{}'))).toEqual({ type: TYPE, status: 404, code: 'not_found' });
  });

  test.each(['{"email":', 'null x', '{"a":1}}', '', '\u0000', '{"__proto__":{"admin":true}}'])(
    'malformed JSON is 400, never 500: %j',
    async (body) => {
      expect(await problem(await post('/auth/login', body))).toEqual({ type: TYPE, status: 400, code: 'malformed' });
    },
  );

  // proves: asvs-1.5.2, asvs-2.2.1, asvs-15.3.5
  test.each(['null', '[]', '"text"', '1', '{}', '{"email":1,"password":[]}'])(
    'JSON of another shape is 422: %s',
    async (body) => {
      expect(await problem(await post('/auth/login', body))).toEqual({ type: TYPE, status: 422, code: 'invalid_field' });
    },
  );

  test('an empty body that calls itself JSON is none where none is asked for', async () => {
    const { token } = await signIn();
    expect((await post('/remote/session', '', { authorization: `Bearer ${token}` })).status).toBe(201);
  });

  // proves: asvs-3.5.2
  test('another content type is 415, a body of 1 MB is 413', async () => {
    expect(await problem(await post('/auth/login', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }))).toEqual({
      type: TYPE,
      status: 415,
      code: 'unsupported_media_type',
    });
    expect(await problem(await post('/auth/login', JSON.stringify({ email: 'x'.repeat(1_000_000) })))).toEqual({
      type: TYPE,
      status: 413,
      code: 'too_large',
    });
  });

  test('a stranger learns nothing from a malformed request', async () => {
    expect((await fetch(`${url}/api/antivirus/scans?limit=-1`)).status).toBe(401);
    const { token } = await signIn();
    const refused = await fetch(`${url}/api/antivirus/scans?limit=-1`, { headers: { authorization: `Bearer ${token}` } });
    expect(refused.status).toBe(422);
    expect(problemSchema.parse(await refused.json()).errors).toEqual([{ field: 'limit', message: 'Choose at least 1.' }]);
  });

  // proves: asvs-15.3.7
  test('a parameter that is given twice, or in another place, is refused or not seen', async () => {
    const { token } = await signIn();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/api/antivirus/scans?limit=1&limit=2`, { headers })).status).toBe(422);
    const elsewhere = await post('/auth/login?email=maria@example.com&password=x', '{}', { 'x-email': 'maria@example.com' });
    expect(problemSchema.parse(await elsewhere.json()).errors?.map(({ field }) => field)).toEqual(['email', 'password']);
  });

  test.each(['antivirus/scans?search', 'antivirus/scans/totals?search', 'admin/users?search', 'admin/audit?person', 'nothing?x'])(
    'a character that is not text is refused wherever an address has it: %s',
    async (path) => {
      const { token } = await signIn(undefined, 'admin');
      const ask = (text: string) => fetch(`${url}/api/${path}=${text}`, { headers: { authorization: `Bearer ${token}` } });
      for (const text of ['%00', 'a%00b'])
        expect(await problem(await ask(text))).toEqual({ type: TYPE, status: 400, code: 'malformed' });
      // The same as letters.
      expect((await ask('%2500')).status).not.toBe(400);
    },
  );

  test.each([
    ['/admin/canned-answers', { shortcut: 'one', title: 'One', text: 'a\u0000b' }, 'text'],
    ['/admin/help-articles', { slug: 'one', title: 'a\ud800b', summary: 'One', body: 'One', is_published: true }, 'title'],
    ['/support/conversations/019a0000-0000-7000-8000-000000000000/assign', { assignee_id: '\u0000' }, 'assignee_id'],
    ['/chat/rating', { rating: 5, comment: 'a\u0000b' }, 'comment'],
    ['/auth/login', { email: 'maria@example.com', password: 'a\u0000b' }, 'password'],
  ])('and wherever a body has it: %s', async (path, body, field) => {
    const { token } = await signIn(undefined, 'admin');
    const refused = await post(path, JSON.stringify(body), { authorization: `Bearer ${token}` });
    expect(refused.status).toBe(422);
    expect(problemSchema.parse(await refused.json()).errors?.map((error) => error.field)).toEqual([field]);
  });

  test('a body that is nested as deep as its bytes allow fails nothing, also where none is asked for', async () => {
    const { token } = await signIn();
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    for (const path of ['/chat/person', '/chat/rating', '/auth/login'])
      expect((await post(path, deep, { authorization: `Bearer ${token}` })).status, path).toBeLessThan(500);
  });

  test('answers are not kept by caches and name their request', async () => {
    const response = await fetch(`${url}/api/health`);
    expect(await response.json()).toEqual({ status: 'ok' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
  });

  // proves: asvs-2.1.1, asvs-8.1.2
  test('the OpenAPI document is made of the same schemas', async () => {
    const document = openApiSchema.parse(JSON.parse(await apiDocument()));
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/api/auth/login', '/api/antivirus/scan', '/api/antivirus/scans', '/api/config']),
    );
    const scan = document.paths['/api/antivirus/scan']?.post;
    expect([document.security, scan?.security]).toEqual([[{ bearer: [] }], undefined]);
    expect(document.paths['/api/auth/login']?.post?.security).toEqual([]);
    expect(scan?.requestBody?.content['multipart/form-data']?.schema.required).toEqual(['file']);
    expect(Object.keys(scan?.responses ?? {})).toEqual(expect.arrayContaining(['201', '401', 'default']));
    expect(document.paths['/api/auth/register']?.post?.requestBody?.content['application/json']?.schema.required).toEqual([
      'email',
      'username',
      'password',
    ]);
    expect((await fetch(`${url}/api/docs`)).status).toBe(200);
  });
});
