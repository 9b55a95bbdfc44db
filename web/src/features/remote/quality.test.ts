import { describe, expect, test } from 'vitest';
import { describeQuality, readQuality } from './quality.ts';

interface Parts {
  at?: number;
  frames?: number;
  buffered_s?: number;
  local?: string;
  remote?: string;
}

/** As Chromium reports it, without what is not read. */
function statsOf({ at = 1_000, frames = 0, buffered_s = 0, local = 'host', remote = 'host' }: Parts = {}) {
  return new Map<string, unknown>([
    ['C1', { type: 'codec', id: 'C1', mimeType: 'video/VP8' }],
    ['P0', { type: 'candidate-pair', id: 'P0', localCandidateId: 'L0', remoteCandidateId: 'R0', currentRoundTripTime: 9 }],
    ['P1', { type: 'candidate-pair', id: 'P1', localCandidateId: 'L1', remoteCandidateId: 'R1', currentRoundTripTime: 0.04 }],
    ['L1', { type: 'local-candidate', id: 'L1', candidateType: local }],
    ['R1', { type: 'remote-candidate', id: 'R1', candidateType: remote }],
    ['T1', { type: 'transport', id: 'T1', selectedCandidatePairId: 'P1' }],
    [
      'I1',
      {
        type: 'inbound-rtp',
        id: 'I1',
        kind: 'video',
        timestamp: at,
        framesDecoded: frames,
        frameWidth: 1920,
        frameHeight: 1080,
        jitterBufferDelay: buffered_s,
        jitterBufferEmittedCount: frames,
      },
    ],
  ]);
}

describe('the quality line', () => {
  test('tells frames, delay, way and size between two readings', () => {
    const { reading } = readQuality(statsOf({ at: 1_000, frames: 100, buffered_s: 3 }), undefined);
    const { quality } = readQuality(statsOf({ at: 3_000, frames: 148, buffered_s: 3.48 }), reading);
    expect(quality).toEqual({ frames_per_second: 24, delay_ms: 30, route: 'direct', width: 1920, height: 1080 });
    expect(describeQuality(quality)).toBe('24 frames/s, 30 ms, direct, 1920 × 1080');
  });

  test('says of a picture that stands still that no frame came', () => {
    const { reading } = readQuality(statsOf({ at: 1_000, frames: 100 }), undefined);
    const { quality } = readQuality(statsOf({ at: 2_000, frames: 100 }), reading);
    expect(describeQuality(quality)).toBe('0 frames/s, 20 ms, direct, 1920 × 1080');
  });

  test.each([
    ['relay', 'host'],
    ['host', 'relay'],
  ])('says that it goes through the relay when one end is one (%s, %s)', (local, remote) => {
    expect(readQuality(statsOf({ local, remote }), undefined).quality.route).toBe('relay');
    expect(describeQuality(readQuality(statsOf({ local, remote }), undefined).quality)).toContain('through the relay');
  });

  test('counts anew when the connection has begun anew', () => {
    const { reading } = readQuality(statsOf({ at: 1_000, frames: 500 }), undefined);
    expect(readQuality(statsOf({ at: 2_000, frames: 3 }), reading).quality.frames_per_second).toBeUndefined();
  });

  test('makes up nothing where the browser tells nothing, or other things', () => {
    expect(describeQuality(readQuality(new Map(), undefined).quality)).toBe('Measuring…');
    const strange = new Map<string, unknown>([
      ['T', { type: 'transport', selectedCandidatePairId: 7 }],
      ['I', null],
    ]);
    expect(describeQuality(readQuality(strange, undefined).quality)).toBe('Measuring…');
  });
});
