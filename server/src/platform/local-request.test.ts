import { expect, test } from 'vitest';
import { isLocalRequest } from './local-request.ts';

const requestOf = (remoteAddress: string | undefined, headers: Record<string, string>) => ({
  raw: { socket: { remoteAddress } },
  headers,
});

test.each([
  ['127.0.0.1', { host: 'localhost:3000' }],
  ['127.0.0.1', { host: '127.0.0.1:3000' }],
  ['::1', { host: '[::1]:3000' }],
  ['::ffff:127.0.0.1', { host: 'palisade.localhost' }],
])('a request from %s with %j is the machine’s own', (peer, headers) => {
  expect(isLocalRequest(requestOf(peer, headers))).toBe(true);
});

test.each([
  ['10.0.0.1', { host: 'localhost:3000' }],
  [undefined, { host: 'localhost:3000' }],
  ['127.0.0.1', { host: 'rebound.example.com:3000' }],
  ['127.0.0.1', { host: 'localhost.example.com' }],
  ['127.0.0.1', { host: '127.0.0.1.example.com' }],
  ['127.0.0.1', { host: '' }],
  ['127.0.0.1', { host: 'localhost', 'x-forwarded-for': '203.0.113.9' }],
  ['127.0.0.1', { host: 'localhost', 'x-forwarded-host': 'localhost' }],
  ['127.0.0.1', { host: 'localhost', forwarded: 'for=203.0.113.9' }],
  ['127.0.0.1', { host: 'localhost', 'x-real-ip': '203.0.113.9' }],
  ['127.0.0.1', { host: 'localhost', via: '1.1 proxy' }],
])('a request from %s with %j is not', (peer, headers) => {
  expect(isLocalRequest(requestOf(peer, headers))).toBe(false);
});
