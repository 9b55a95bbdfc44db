import { request } from 'node:http';
import type { Socket } from 'node:net';
import { type Scan, scanFile } from '@palisade/contract/antivirus';
import { type Answer, readAnswer, replyOf, type TestApp } from './harness.ts';

type Uploader = Pick<TestApp, 'url'>;

/** Uploads one file as a browser does. */
export async function upload(
  app: Uploader,
  token: string | undefined,
  file: { name: string; content: Buffer },
): Promise<Answer<typeof scanFile>> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(file.content)]), file.name);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return await readAnswer(scanFile, await fetch(`${app.url}/api/antivirus/scan`, { method: 'POST', body: form, headers }));
}

/** Uploads and answers the record. */
export async function scanned(app: Uploader, token: string, name: string, content: Buffer): Promise<Scan> {
  return replyOf(await upload(app, token, { name, content }));
}

/** An upload that the test drives byte by byte: the head of a multipart request is sent, the content is the test's. */
export function openUpload(app: Uploader, token: string, options: { contentLength?: number; name?: string } = {}) {
  const boundary = 'palisade-test-boundary';
  const sent = request(`${app.url}/api/antivirus/scan`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...(options.contentLength === undefined ? {} : { 'content-length': options.contentLength }),
    },
  });
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    sent.once('response', (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.once('error', reject);
  });
  answer.catch(() => {});
  sent.write(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${options.name ?? 'slow.bin'}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  return {
    answer,
    write: (bytes: Buffer) => new Promise<void>((resolve) => (sent.write(bytes) ? resolve() : sent.once('drain', resolve))),
    finish: () => sent.end(`\r\n--${boundary}--\r\n`),
    cut: () => {
      const socket: Socket | null = sent.socket;
      socket?.resetAndDestroy();
    },
  };
}
