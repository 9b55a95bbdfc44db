import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientFrameSchema, eventsChannel } from './events.ts';
import { isAllowedSdp, isOfVoices, mediaOf } from './remote-sdp.ts';
import { customerSignalSchema, pointSchema, SDP_LENGTH_MAXIMUM, signalSchema, technicianSignalSchema } from './remote-signal.ts';

const CONNECTION = '5f0c1c5e-6a0f-4f6b-9a53-0d3f3f1c2a10';
/** A description with a section for each kind and direction; no direction is none said. */
const sdp = (...media: [string, string?][]) =>
  [
    'v=0',
    'o=- 1 2 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    ...media.flatMap(([kind, direction]) => [
      `m=${kind} 9 UDP/TLS/RTP/SAVPF 96`,
      'c=IN IP4 0.0.0.0',
      ...(direction ? [`a=${direction}`] : []),
    ]),
    '',
  ].join('\r\n');

describe('a description of a connection', () => {
  test.each([
    ['the customer sends a picture', 'customer', sdp(['video', 'sendonly'], ['application']), true],
    ['the customer talks as well', 'customer', sdp(['video', 'sendonly'], ['audio', 'sendrecv']), true],
    ['the customer talks alone', 'customer', sdp(['audio', 'sendrecv']), true],
    ['the customer would receive a picture', 'customer', sdp(['video', 'sendrecv']), false],
    ['no direction is both', 'customer', sdp(['video']), false],
    ['one of two pictures goes both ways', 'customer', sdp(['video', 'sendonly'], ['video', 'sendrecv']), false],
    ['a kind that nobody knows', 'customer', sdp(['text', 'sendonly']), false],
    ['nothing in it', 'customer', sdp(), false],
    ['the technician receives a picture', 'technician', sdp(['video', 'recvonly'], ['audio', 'sendrecv']), true],
    ['the technician sends one', 'technician', sdp(['video', 'sendonly']), false],
    ['the technician sends one as well', 'technician', sdp(['video', 'sendrecv']), false],
  ] as const)('%s', (_, side, text, allowed) => {
    expect(isAllowedSdp(side, text)).toBe(allowed);
  });

  test('has the direction that each part says itself: browsers do not agree on one that is said for all of it', () => {
    const text = sdp(['video'], ['audio', 'inactive']).replace('t=0 0', 't=0 0\r\na=sendonly');
    expect(mediaOf(text)).toEqual([
      { kind: 'video', direction: 'sendrecv' },
      { kind: 'audio', direction: 'inactive' },
    ]);
  });

  // Each is a direction to some browser: to Chromium with more behind it (HasAttribute of webrtc_sdp.cc), to Firefox with blanks and capitals (webrtc-sdp).
  // proves: remote-7
  test.each([
    'a=sendrecv:1',
    'a=sendrecv 1',
    'a=sendrecv\t',
    ' a=sendrecv',
    'A=SendRecv',
    'a= sendrecv',
    'a=sendrecv\ra=recvonly',
  ])('is both ways as soon as any browser may read it so: %j', (said) => {
    const text = sdp(['video', 'recvonly']);
    expect(isAllowedSdp('technician', text)).toBe(true);
    for (const both of [`${said}\r\na=recvonly`, `a=recvonly\r\n${said}`])
      expect(isAllowedSdp('technician', text.replace('a=recvonly', both))).toBe(false);
  });

  test.each(['M=video', 'm= video', ' m=video', 'm=VIDEO', 'm=video/x', 'm=video\t9'])(
    'has a picture wherever a browser may see one: %j',
    (line) => {
      const text = `${sdp(['audio', 'inactive'])}${line} 9 UDP/TLS/RTP/SAVPF 96\r\na=sendrecv\r\n`;
      expect(isAllowedSdp('technician', text)).toBe(false);
    },
  );

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
    'of media that nobody knows is not allowed: %j',
    (kind) => {
      for (const side of ['customer', 'technician'] as const) expect(isAllowedSdp(side, sdp([kind, 'inactive']))).toBe(false);
    },
  );

  test.each([
    ['voices alone', sdp(['audio', 'sendrecv']), true],
    ['a picture', sdp(['video', 'sendonly'], ['application']), false],
    ['a picture with voices', sdp(['video', 'sendonly'], ['audio', 'sendrecv']), false],
    ['nothing', sdp(), false],
  ])('is of voices, or is not: %s', (_, text, isVoice) => {
    expect(isOfVoices(text)).toBe(isVoice);
  });

  test('is read whatever its lines end with, and whatever is in it', () => {
    for (const end of ['\n', '\r', '\r\n'])
      expect(isAllowedSdp('technician', sdp(['video', 'sendrecv']).replaceAll('\r\n', end))).toBe(false);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(isAllowedSdp('technician', `${text}\r\nm=video 9\r\na=sendrecv`)).toBe(false);
      }),
    );
  });
});

describe('a signal', () => {
  const offer = { type: 'offer', connection_id: CONNECTION, sdp: sdp(['video', 'sendonly']) };
  const answer = { type: 'answer', connection_id: CONNECTION, sdp: sdp(['video', 'recvonly']) };

  test('of one side is not a signal of the other', () => {
    expect(customerSignalSchema.safeParse(offer).success).toBe(true);
    expect(technicianSignalSchema.safeParse(offer).success).toBe(false);
    expect(technicianSignalSchema.safeParse(answer).success).toBe(true);
    expect(customerSignalSchema.safeParse(answer).success).toBe(false);
    for (const type of ['share_started', 'paused', 'resumed', 'choosing'])
      expect(technicianSignalSchema.safeParse({ type, connection_id: CONNECTION, surface: null }).success).toBe(false);
  });

  test('has at most 64 KiB of description', () => {
    const long = (length: number) => ({ ...offer, sdp: 'a'.repeat(length) });
    expect(signalSchema.safeParse(long(SDP_LENGTH_MAXIMUM)).success).toBe(true);
    expect(signalSchema.safeParse(long(SDP_LENGTH_MAXIMUM + 1)).success).toBe(false);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 2.5, -0.1, 1.000_001, null, '0.5', undefined])(
    'does not point at %j',
    (bad) => {
      expect(pointSchema.safeParse({ x: bad, y: 0.5 }).success).toBe(false);
      expect(technicianSignalSchema.safeParse({ type: 'pointer', at: { x: 0.5, y: bad } }).success).toBe(false);
    },
  );

  test('is no reason to end a socket, whatever it is: it is read by the side of the page', () => {
    const frame = { kind: 'remote_signal', session_id: '01930000-0000-7000-8000-000000000000', signal: { type: 'nonsense' } };
    expect(clientFrameSchema.safeParse(frame).success).toBe(true);
    expect(eventsChannel.lively?.kind).toBe(frame.kind);
  });
});
