import type { Signal } from '@palisade/contract/remote-signal';
import { expect, test } from 'vitest';
import { readSignal } from './signals.ts';

const CONNECTION = '5f0c1c5e-6a0f-4f6b-9a53-0d3f3f1c2a10';
const described = (...media: string[]) => ['v=0', 'o=- 1 2 IN IP4 0.0.0.0', 's=-', 't=0 0', ...media, ''].join('\r\n');
const VIDEO = 'm=video 9 UDP/TLS/RTP/SAVPF 96';
const OFFER: Signal = { type: 'offer', connection_id: CONNECTION, sdp: described(VIDEO, 'a=sendonly') };
const ANSWER: Signal = { type: 'answer', connection_id: CONNECTION, sdp: described(VIDEO, 'a=recvonly') };
const STARTED: Signal = { type: 'share_started', connection_id: CONNECTION, surface: 'monitor' };

test.each(['customer', 'technician'] as const)('the %s says what belongs to that side', (side) => {
  const own = side === 'customer' ? [OFFER, STARTED, { type: 'paused' }] : [ANSWER, { type: 'pointer', at: { x: 0, y: 1 } }];
  for (const said of [...own, { type: 'voice', state: 'open' }]) expect(readSignal(side, said)?.signal).toEqual(said);
});

// proves: asvs-17.3.2, remote-7
test.each<['customer' | 'technician', unknown]>([
  ['technician', OFFER],
  ['technician', STARTED],
  ['technician', { type: 'paused' }],
  ['customer', ANSWER],
  ['customer', { type: 'pointer', at: { x: 0.5, y: 0.5 } }],
  // proves: remote-16
  ['technician', { type: 'pointer', at: { x: 2.5, y: 0.5 } }],
  ['customer', { ...OFFER, connection_id: "'; drop table" }],
  ['customer', null],
  ['technician', { type: 'take_control' }],
  ['customer', { type: 'voice', state: 'loud' }],
])('the %s may not say %j', (side, said) => {
  expect(readSignal(side, said)).toBeUndefined();
});
