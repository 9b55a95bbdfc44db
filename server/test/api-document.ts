import { startTestApp } from './harness.ts';

let text: Promise<string> | undefined;

/** The API description as the server sends it, made once for each process of tests: it takes a second of a core. */
export function apiDocument(): Promise<string> {
  text ??= readDocument();
  return text;
}

async function readDocument(): Promise<string> {
  const app = await startTestApp();
  return await (await app.fetch('/api/openapi.json')).text();
}
