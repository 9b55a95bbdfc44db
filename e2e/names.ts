import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, type Page } from '@playwright/test';

/** Asks for a name as a device does, over HTTPS (RFC 8484). Answers the code of the answer: 0 for an address, 3 for a refused name. */
export async function ask(page: Page, address: string, name: string): Promise<number> {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  const data = Buffer.concat([Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), ...labels, Buffer.from([0, 0, 1, 0, 1])]);
  const answer = await page.request.post(address, { headers: { 'content-type': 'application/dns-message' }, data });
  expect(answer.status(), address).toBe(200);
  return ((await answer.body())[3] ?? 0) & 0xf;
}

/** A name server that has an address for every name. */
export async function nameServer() {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
    const answer = Buffer.concat([query.subarray(0, end), record]);
    // A response without an error, with one question, one answer and nothing else.
    answer.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2);
    socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { upstream: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}
