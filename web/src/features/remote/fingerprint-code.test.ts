// proves: asvs-17.2.1
import { CODE_ALPHABET } from '@palisade/contract/remote';
import { describe, expect, test } from 'vitest';
import { fingerprintOf, readFingerprintCode } from './fingerprint-code.ts';

const pairs = (start: number) =>
  Array.from({ length: 32 }, (_, index) => ((start + index * 7) % 256).toString(16).padStart(2, '0').toUpperCase()).join(':');
const sdpOf = (fingerprint: string) =>
  `v=0\r\no=- 46117 2 IN IP4 127.0.0.1\r\ns=-\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=fingerprint:sha-256 ${fingerprint}\r\na=setup:actpass\r\n`;
const CUSTOMER = pairs(3);
const TECHNICIAN = pairs(90);

describe('the fingerprint of a description', () => {
  test('is the one that it names, however it is written', () => {
    expect(fingerprintOf(sdpOf(CUSTOMER))).toBe(CUSTOMER);
    expect(fingerprintOf(sdpOf(CUSTOMER.toLowerCase()))).toBe(CUSTOMER);
    expect(fingerprintOf(sdpOf(CUSTOMER) + sdpOf(CUSTOMER))).toBe(CUSTOMER);
  });

  test.each([
    ['none', 'v=0\r\n'],
    ['two that differ', sdpOf(CUSTOMER) + sdpOf(TECHNICIAN)],
    ['one that is cut short', sdpOf(CUSTOMER.slice(0, -3))],
    ['one of a broken hash', sdpOf(CUSTOMER).replace('sha-256', 'md5')],
  ])('is not there where it names %s', (_what, sdp) => {
    expect(fingerprintOf(sdp)).toBeUndefined();
  });
});

describe('the code that both read aloud', () => {
  test('is the same on both sides, short, and of characters that nobody mistakes', async () => {
    const code = await readFingerprintCode(sdpOf(CUSTOMER), sdpOf(TECHNICIAN));
    expect(code).toMatch(new RegExp(`^[${CODE_ALPHABET}]{4} [${CODE_ALPHABET}]{4}$`, 'u'));
    expect(await readFingerprintCode(sdpOf(TECHNICIAN), sdpOf(CUSTOMER))).toBe(code);
  });

  test('is another one when somebody sits between', async () => {
    const between = sdpOf(pairs(200));
    const codes = await Promise.all([
      readFingerprintCode(sdpOf(CUSTOMER), sdpOf(TECHNICIAN)),
      readFingerprintCode(sdpOf(CUSTOMER), between),
      readFingerprintCode(between, sdpOf(TECHNICIAN)),
    ]);
    expect(new Set(codes).size).toBe(3);
  });

  test('does not change when the address of a side does', async () => {
    const moved = sdpOf(CUSTOMER).replace('127.0.0.1', '192.0.2.7');
    expect(await readFingerprintCode(moved, sdpOf(TECHNICIAN))).toBe(
      await readFingerprintCode(sdpOf(CUSTOMER), sdpOf(TECHNICIAN)),
    );
  });

  test('is not made up where a side names no certificate', async () => {
    expect(await readFingerprintCode(sdpOf(CUSTOMER), 'v=0\r\n')).toBeUndefined();
  });
});
