import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { type Scan, scanFile, UPLOAD_KEY_HEADER } from '@palisade/contract/antivirus';
import { readAttachment, uploadAttachment } from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import { eventually } from '@palisade/scanner/test/eventually';
import { onTestFinished } from 'vitest';
import { type Answer, type ListeningApp, readAnswer, replyOf, type TestApp } from './harness.ts';

type Uploader = Pick<TestApp, 'fetch'>;

/** Uploads one file as a browser does. */
export async function upload(
  app: Uploader,
  token: string | undefined,
  file: { name: string; content: Buffer },
): Promise<Answer<typeof scanFile>> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(file.content)]), file.name);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return await readAnswer(scanFile, await app.fetch(`/api/antivirus/scan`, { method: 'POST', body: form, headers }));
}

/** Uploads a file for a message of the chat, and answers how its scan has ended. */
export async function attach(app: Uploader, token: string, name: string, content: Buffer): Promise<Attachment> {
  const { id } = replyOf(await tryAttach(app, token, name, content));
  return await eventually(async () => {
    const headers = { authorization: `Bearer ${token}` };
    const path = readAttachment.path.replace('{id}', id);
    const file = replyOf(await readAnswer(readAttachment, await app.fetch(`/api${path}`, { headers })));
    if (file.status === 'scanning') throw new Error('It is being scanned.');
    return file;
  });
}

export async function tryAttach(
  app: Uploader,
  token: string,
  name: string,
  content: Buffer,
): Promise<Answer<typeof uploadAttachment>> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(content)]), name);
  const headers = { authorization: `Bearer ${token}` };
  return await readAnswer(uploadAttachment, await app.fetch(`/api/chat/attachments`, { method: 'POST', body: form, headers }));
}

/** A new name for an upload. */
export function newUploadKey(): string {
  return randomBytes(16).toString('hex');
}

/** Uploads and answers the record. */
export async function scanned(app: Uploader, token: string, name: string, content: Buffer): Promise<Scan> {
  return replyOf(await upload(app, token, { name, content }));
}

/** An upload that the test drives byte by byte: the head of a multipart request is sent, the content is the test's. It ends with the test. */
export function openUpload(
  app: Pick<ListeningApp, 'url'>,
  token: string,
  options: { contentLength?: number; name?: string; key?: string } = {},
) {
  const boundary = 'palisade-test-boundary';
  const sent = request(`${app.url}/api/antivirus/scan`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...(options.key === undefined ? {} : { [UPLOAD_KEY_HEADER]: options.key }),
      ...(options.contentLength === undefined ? {} : { 'content-length': options.contentLength }),
    },
  });
  const answer = new Promise<{ status: number; body: string; retry_after: string | undefined }>((resolve, reject) => {
    sent.once('response', (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body, retry_after: response.headers['retry-after'] }),
      );
    });
    sent.once('error', reject);
  });
  answer.catch(() => {});
  sent.write(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${options.name ?? 'slow.bin'}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const cut = () => {
    const socket: Socket | null = sent.socket;
    socket?.resetAndDestroy();
  };
  // A server that stops waits for bodies that have begun.
  onTestFinished(cut);
  return {
    answer,
    write: (bytes: Buffer) => new Promise<void>((resolve) => (sent.write(bytes) ? resolve() : sent.once('drain', resolve))),
    finish: () => sent.end(`\r\n--${boundary}--\r\n`),
    cut,
  };
}
