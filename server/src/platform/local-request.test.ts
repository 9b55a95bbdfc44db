// proves: asvs-4.1.3, security-10
import { describe, expect, test } from 'vitest';
import { type Incoming, isLocalRequest, proxySignOf } from './local-request.ts';

interface Said {
  peer?: string | undefined;
  version?: [number, number];
  headers: Record<string, string>;
  /** As they came; in capitals as a browser writes them by default. */
  names?: string[];
  method?: string;
}

const capitals = (name: string) => name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

function requestOf({ peer = '127.0.0.1', version = [1, 1], headers, names, method }: Said): Incoming {
  const written = names ?? Object.keys(headers).map(capitals);
  return {
    raw: {
      socket: { remoteAddress: peer },
      httpVersionMajor: version[0],
      httpVersionMinor: version[1],
      method,
      rawHeaders: written.flatMap((name) => [name, headers[name.toLowerCase()] ?? '']),
    },
    headers,
  };
}

const HERE = { host: 'localhost:3000' };

// proves: attack-B.6-2
test.each<Said>([
  { headers: HERE },
  { headers: { host: '127.0.0.1:3000' } },
  { peer: '::1', headers: { host: '[::1]:3000' } },
  { peer: '::ffff:127.0.0.1', headers: { host: 'palisade.localhost' } },
  { headers: { ...HERE, origin: 'http://localhost:3000', connection: 'keep-alive', referer: 'http://localhost:3000/' } },
  { headers: { host: 'localhost', origin: 'http://localhost:80' } },
  // Node's fetch writes every name in lower case, and says that the connection stays.
  { headers: { ...HERE, connection: 'keep-alive', accept: '*/*' }, names: ['host', 'connection', 'accept'] },
  { method: 'GET', headers: { ...HERE, connection: 'upgrade', upgrade: 'websocket' }, names: ['host', 'connection', 'upgrade'] },
])('a request is the machine’s own: %j', (said) => {
  expect(isLocalRequest(requestOf(said))).toBe(true);
});

// proves: attack-B.6-2
test.each<Said>([
  { peer: '10.0.0.1', headers: HERE },
  { peer: '', headers: HERE },
  { headers: { host: 'rebound.example.com:3000' } },
  { headers: { host: 'localhost.example.com' } },
  { headers: { host: '127.0.0.1.example.com' } },
  { headers: { host: '' } },
  { headers: {} },
  { headers: { ...HERE, origin: 'http://localhost:4000' } },
  { headers: { ...HERE, origin: 'https://localhost:3000' } },
  { headers: { ...HERE, origin: 'http://127.0.0.1:3000' } },
  { headers: { ...HERE, origin: 'https://evil.example' } },
  { headers: { ...HERE, origin: 'null' } },
  { headers: { ...HERE, origin: '' } },
])('a request is not: %j', (said) => {
  expect(isLocalRequest(requestOf(said))).toBe(false);
});

describe('a request that came through a proxy', () => {
  // proves: attack-B.6-2
  test.each([
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'X-Forwarded-Server',
    'X-Forwarded',
    'Forwarded',
    'Forwarded-For',
    'Via',
    'X-Real-IP',
    'CF-Connecting-IP',
    'CF-Connecting-IPv6',
    'CF-Ray',
    'CDN-Loop',
    'True-Client-IP',
    'X-Client-IP',
    'Client-IP',
    'X-Original-Forwarded-For',
    'X-Original-URL',
    'Fly-Client-IP',
    'Fastly-Client-IP',
    'X-Cluster-Client-IP',
    'X-Azure-ClientIP',
    'X-Envoy-External-Address',
    'X-AppEngine-User-IP',
    'X-Amzn-Trace-Id',
    'X-Amz-Cf-Id',
    'X-ProxyUser-IP',
    'WL-Proxy-Client-IP',
    'Proxy-Client-IP',
    'X-Varnish',
  ])('is known by %s', (name) => {
    const request = requestOf({ headers: { ...HERE, [name.toLowerCase()]: '203.0.113.9' } });
    expect(proxySignOf(request)).toBe('forwarding_header');
    expect(isLocalRequest(request)).toBe(false);
  });

  test.each<[string, Said]>([
    ['old_http', { version: [1, 0], headers: { ...HERE, connection: 'close' } }],
    ['old_http', { version: [0, 9], headers: HERE }],
    ['header_names', { headers: { ...HERE, 'user-agent': 'x' }, names: ['host', 'user-agent'] }],
    // The headers that HAProxy adds for a client that asks for an upgrade.
    [
      'header_names',
      { method: 'POST', headers: { ...HERE, connection: 'upgrade', upgrade: 'x' }, names: ['host', 'connection', 'upgrade'] },
    ],
  ])('is known by %s', (sign, said) => {
    expect(proxySignOf(requestOf(said))).toBe(sign);
    expect(isLocalRequest(requestOf(said))).toBe(false);
  });

  test('is not every request: those of browsers have no such sign', () => {
    const chromium =
      'Host Connection Content-Length sec-ch-ua-platform User-Agent sec-ch-ua Content-Type sec-ch-ua-mobile Accept Origin Sec-Fetch-Site Sec-Fetch-Mode Sec-Fetch-Dest Referer Accept-Encoding Accept-Language Cookie traceparent X-Request-Id Authorization If-None-Match Upgrade-Insecure-Requests Cache-Control Pragma DNT Range';
    const names = chromium.split(' ');
    const headers = Object.fromEntries(names.map((name) => [name.toLowerCase(), 'x']));
    expect(proxySignOf(requestOf({ headers, names }))).toBeUndefined();
  });
});
