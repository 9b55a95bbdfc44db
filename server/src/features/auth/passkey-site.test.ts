import { expect, test } from 'vitest';
import { passkeySite } from './passkey-site.ts';

const LOCALHOST = { origin: 'http://localhost:3000', rp_id: 'localhost' };

test.each([
  // The machine itself, by name and by address.
  ['localhost:3000', undefined, 'local', LOCALHOST],
  ['palisade.localhost:3000', undefined, 'local', { origin: 'http://palisade.localhost:3000', rp_id: 'palisade.localhost' }],
  ['127.0.0.1:3000', undefined, 'local', LOCALHOST],
  ['[::1]:3000', undefined, 'local', LOCALHOST],
  ['localhost', undefined, 'local', { origin: 'http://localhost', rp_id: 'localhost' }],
  // A name that others reach, or that a caller sends.
  ['192.168.1.5:3000', undefined, 'local', undefined],
  ['evil.example', undefined, 'local', undefined],
  ['evil.example', undefined, 'public', undefined],
  ['localhost:3000', undefined, 'public', undefined],
  ['not a host', undefined, 'local', undefined],
  [undefined, undefined, 'local', undefined],
  // The setting decides, and not the request.
  ['evil.example', 'https://palisade.example/', 'public', { origin: 'https://palisade.example', rp_id: 'palisade.example' }],
  ['x', 'https://palisade.example:8443', 'public', { origin: 'https://palisade.example:8443', rp_id: 'palisade.example' }],
  ['x', 'http://palisade.example', 'public', undefined],
  ['x', 'https://203.0.113.7', 'public', undefined],
  ['x', 'http://127.0.0.1:3000', 'local', LOCALHOST],
] as const)('at %s with PUBLIC_URL %s in %s exposure passkeys work at %j', (host, public_url, exposure, site) => {
  expect(passkeySite(host, { public_url, exposure })).toEqual(site);
});
