import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { login, register } from '@palisade/contract/auth';
import { problemCodes } from '@palisade/contract/problem';
import { phrasedProblemSchema } from '@palisade/contract/problem-phrase';
import { templateFaults } from '@palisade/contract/template-faults';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { shortPhrases } from '#platform/openapi.ts';
import { apiDocument } from '#test/api-document.ts';
import { startTestApp } from '#test/harness.ts';
import { PROBLEM_PHRASES, REFUSALS, SERVER_PHRASES } from './phrases.ts';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const paths = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) => /(?<!\.test)\.ts$/u.test(path));

test('each catalog of refusals is in the list', async () => {
  const files = paths.filter((path) => path.endsWith('.refusals.ts'));
  expect(files.length).toBeGreaterThan(10);
  const modules = await Promise.all(
    files.map(async (path) => {
      const module: unknown = await import(pathToFileURL(join(SOURCES, path)).href);
      return z.record(z.string(), z.unknown()).parse({ ...Object(module) });
    }),
  );
  const catalogs = modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) => (name.endsWith('_REFUSALS') ? [value] : [])),
  );
  expect(catalogs).toHaveLength(files.length);
  expect(new Set(REFUSALS)).toEqual(new Set(catalogs));
});

test('a code is in one catalog', () => {
  const codes = [...problemCodes, ...REFUSALS.flatMap((catalog) => Object.keys(catalog))];
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
});

test('each other catalog of the server is in the list', async () => {
  const files = paths.filter((path) => path.endsWith('.phrases.ts'));
  expect(files.length).toBeGreaterThan(1);
  for (const path of files) {
    const module: unknown = await import(pathToFileURL(join(SOURCES, path)).href);
    const catalogs = Object.entries({ ...Object(module) }).filter(([name]) => name.endsWith('_PHRASES'));
    expect(catalogs, path).toHaveLength(1);
    expect(Object.values<unknown>(SERVER_PHRASES), path).toContain(catalogs[0]?.[1]);
  }
});

test.each([
  ...Object.entries(PROBLEM_PHRASES),
  ...Object.entries(SERVER_PHRASES.security_checks),
  ...Object.entries(SERVER_PHRASES.chat_messages),
])('%s names the parameters that it uses', (code, template) => {
  expect(templateFaults(code, template)).toEqual([]);
});

test('sentences that have no template are those of devices and of schemas', () => {
  const users = paths.filter((path) =>
    /import \{[^}]*\basWritten\b[^}]*\} from '[^']*\/sentence\.ts'/u.test(readFileSync(join(SOURCES, path), 'utf8')),
  );
  expect(users.sort()).toEqual(['app/devices.ts', 'features/devices/second-looks.ts', 'platform/http.ts']);
});

test('the API description has the catalogs, and answers have their codes', async () => {
  const { fetch, signIn } = await startTestApp();
  expect(JSON.parse(await apiDocument())).toMatchObject({ 'x-phrases': shortPhrases(SERVER_PHRASES) });

  const ask = async (path: string, init: RequestInit = {}) =>
    phrasedProblemSchema.parse(await (await fetch(`/api${path}`, init)).json());
  const { token } = await signIn();
  const send = (path: string, body: unknown) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });

  expect((await ask('/nowhere')).phrase).toEqual({ code: 'address.unknown', params: {} });
  expect((await ask('/auth/sessions')).phrase).toEqual({ code: 'unauthenticated', params: {} });
  // A sentence of the schema is one that the page has as well.
  const of_schema = await send(login.path, { email: 'x', password: 'y' });
  expect(of_schema.phrase).toEqual({ code: 'as_written', params: { sentence: of_schema.detail } });
  expect(of_schema.errors?.map(({ phrase }) => phrase)).toEqual([undefined]);
  const of_several = await send(login.path, {});
  expect(of_several.phrase).toEqual({ code: 'request.fields', params: { fields: 'email, password' } });
  const mixed = { email: 'mixed@example.com', username: 'p\u0430ypal', password: 'a long enough password' };
  const of_field = await send(register.path, mixed);
  const phrase = { code: 'username.mixed', params: {} };
  expect(of_field).toMatchObject({ phrase, errors: [{ phrase }] });
});
