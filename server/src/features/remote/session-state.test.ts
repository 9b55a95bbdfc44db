import { SESSION_LIMITS } from '@palisade/contract/remote';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asOf, deadlineOf, ended, isOpen, liveOf, lookAt, lost, type Row, SEAT, seated } from './session-state.ts';

const START = Date.parse('2026-11-20T10:00:00Z');
const at = (ms: number) => new Date(START + ms).toISOString();
const nobody = () => false;

const ROW: Row = {
  ...{ id: 'id', user_id: 'maria', customer: 'maria', session_code: 'K7M-4QP-9XD', status: 'pending' },
  ...{ started_at: at(0), expires_at: at(1_800_000), joined_at: null, ended_at: null, end_reason: null },
  ...{ agent_id: null, support_agent: null, version: 1, provider: null, staff_since: null, consent_by: null },
  ...{ approved_at: null, view: null, reaffirmed_at: null, shares: '[]', has_shared: 0, unshared_at: null, paused_at: null },
  ...{ grants: '[]', grants_ended: null },
  ...{ customer_seat: null, customer_until: null, customer_lost_at: null, customer_lost_by: null },
  ...{ technician_seat: null, technician_until: null, technician_lost_at: null, technician_lost_by: null },
  ...{ customer_voice: 'off', technician_voice: 'off' },
  ...{ due_at: at(1_800_000), noted: 0, last_seq: 0, notes: '', rating: null, rating_comment: null },
  ...{ reported_at: null, report_reason: null, report_comment: null },
};
const CLAIMED: Row = {
  ...ROW,
  joined_at: at(0),
  agent_id: 'tina',
  support_agent: 'tina',
  consent_by: at(SESSION_LIMITS.consent),
};
const RUNNING: Row = {
  ...{ ...CLAIMED, status: 'active', approved_at: at(0), reaffirmed_at: at(0), view: 'talk', consent_by: null },
  ...seated('customer', 'c', at(0)),
  ...seated('technician', 't', at(0)),
};

describe('the clock ends', () => {
  test.each<[string, Row, number, string, string]>([
    ['one that nobody joined', ROW, 1_800_000, 'cancelled', 'expired'],
    ['one whose customer says nothing', CLAIMED, 60_000, 'cancelled', 'no_answer'],
    ['one whose share was stopped', { ...RUNNING, unshared_at: at(0) }, 60_000, 'completed', 'share_stopped'],
    ['one whose customer is gone', { ...RUNNING, ...lost('customer', at(0), 'page') }, 60_000, 'completed', 'customer_gone'],
    [
      'one whose technician is gone',
      { ...RUNNING, ...lost('technician', at(0), 'page') },
      120_000,
      'completed',
      'technician_gone',
    ],
    ['one whose server is gone', { ...RUNNING, ...lost('technician', at(0), 'server') }, 60_000, 'completed', 'server_restart'],
    ['one that was not reaffirmed', RUNNING, 1_800_000, 'completed', 'not_reaffirmed'],
    ['one of four hours', { ...RUNNING, reaffirmed_at: at(4 * 3_600_000 - 1) }, 4 * 3_600_000, 'completed', 'time_limit'],
  ])('%s, to the millisecond', (_, row, ms, status, end_reason) => {
    const isHere = (seat: string) => seat === 'c' || seat === 't';
    expect(asOf(row, at(ms - 1), isHere)).toEqual(row);
    expect(asOf(row, at(ms), isHere)).toMatchObject({ status, end_reason, ended_at: at(ms) });
    // A later look answers the same.
    expect(asOf(row, at(ms + 3_600_000), isHere)).toEqual(asOf(row, at(ms), isHere));
  });
});

describe('a server that says no word any more', () => {
  // proves: remote-14
  test('has lost its pages when it said the last one; they have a minute from then on', () => {
    const renewed = at(SEAT.renewed_ms);
    const row = { ...RUNNING, ...seated('customer', 'c', renewed), ...seated('technician', 't', renewed) };
    const over = SEAT.renewed_ms + SEAT.lease_ms;
    expect(liveOf(asOf(row, at(over - 1), nobody))).toMatchObject({ phase: 'active', is_customer_here: true });
    expect(liveOf(asOf(row, at(over), nobody))).toMatchObject({
      ...{ phase: 'reconnecting', is_customer_here: false, is_technician_here: false },
      ...{ due_at: at(SEAT.renewed_ms + SESSION_LIMITS.reconnecting), due_reason: 'server_restart' },
    });
    expect(asOf(row, at(3_600_000), nobody)).toMatchObject({ status: 'completed', end_reason: 'server_restart' });
    // Pages that are connected here are present, whatever the row says.
    expect(asOf(row, at(over), () => true)).toEqual(row);
  });
});

describe('all sequences of events', () => {
  const moments = fc.record({
    status: fc.constantFrom('pending' as const, 'active' as const),
    joined: fc.boolean(),
    times: fc.array(fc.option(fc.integer({ min: 0, max: 5 * 3_600_000 }), { nil: null }), { minLength: 8, maxLength: 8 }),
    by: fc.constantFrom('page' as const, 'server' as const),
  });
  const rowOf = ({ status, joined, times, by }: typeof moments extends fc.Arbitrary<infer T> ? T : never): Row => {
    const time = (place: number) => (times[place] == null ? null : at(times[place]));
    const active = status === 'active';
    return {
      ...{ ...ROW, status, joined_at: joined || active ? at(0) : null, approved_at: active ? at(0) : null },
      ...{ reaffirmed_at: active ? time(0) : null, unshared_at: active ? time(1) : null, consent_by: time(2) },
      ...{ customer_seat: times[3] == null ? null : 'c', customer_until: time(3), customer_lost_at: time(4) },
      ...{ technician_seat: times[5] == null ? null : 't', technician_until: time(5), technician_lost_at: time(6) },
      ...{ customer_lost_by: by, technician_lost_by: by },
    };
  };

  test('an open session has an end in sight, and is checked by then', () => {
    fc.assert(
      fc.property(moments, (made) => {
        const row = rowOf(made);
        const deadline = deadlineOf(row);
        expect(deadline).toBeDefined();
        expect((lookAt(row) ?? '') <= (deadline?.at ?? '')).toBe(true);
        expect(isOpen(asOf(row, at(6 * 3_600_000), nobody))).toBe(false);
      }),
    );
  });

  test('a finished session does not change', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: 0, max: 10 * 3_600_000 }), (made, ms) => {
        const row = rowOf(made);
        const over = { ...row, ...ended(row, at(0), 'ended_by_admin') };
        expect(asOf(over, at(ms), nobody)).toEqual(over);
        expect(liveOf(over)).toMatchObject({ phase: 'ended', due_at: null, share: 'none', is_customer_here: false });
      }),
    );
  });
});
