import { expect, test } from 'vitest';
import { passedSockets } from './passed-sockets.ts';

test.each([
  ['those of this process', { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'tls:dns:dns' }, { tls: [3], dns: [4, 5] }],
  ['those of another process', { LISTEN_PID: '8', LISTEN_FDS: '1', LISTEN_FDNAMES: 'tls' }, {}],
  ['fewer than have names', { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'tls:dns' }, { tls: [3] }],
  ['no number', { LISTEN_PID: '7', LISTEN_FDS: 'x', LISTEN_FDNAMES: 'tls' }, {}],
  ['none', {}, {}],
])('takes %s', (_what, environment, sockets) => {
  expect(Object.fromEntries(passedSockets(environment, 7))).toEqual(sockets);
});
