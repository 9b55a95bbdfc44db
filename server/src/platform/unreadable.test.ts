import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { refuseUnreadable } from './unreadable.ts';

// proves: attack-C.16-2
test('an answer that is on its way is cut, not written into', async () => {
  const server = createServer((_request, response) => void response.write('the first half'));
  onTestFinished(() => void server.close());
  server.on('clientError', refuseUnreadable({ logger: pino({ level: 'silent' }), headers: {} }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const socket = connect(address !== null && typeof address === 'object' ? address.port : 0, '127.0.0.1');
  let said = '';
  socket.on('data', (bytes) => {
    said += bytes.toString();
    if (said.includes('the first half')) socket.write('garbage\r\n\r\n');
  });
  // Unread bytes make the server answer with a reset.
  socket.on('error', () => socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await closed;
  expect(said).toContain('the first half');
  expect(said.match(/HTTP\/1\.1/g)).toHaveLength(1);
});
