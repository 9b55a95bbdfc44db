import { SESSION_LIMITS } from '@palisade/contract/remote';
import type { Side, Voice } from '@palisade/contract/remote-record';
import {
  type CustomerSignal,
  customerSignalSchema,
  SHARES_MAXIMUM,
  type Signal,
  technicianSignalSchema,
} from '@palisade/contract/remote-signal';
import type { Move } from './session-changes.ts';
import { isClaimed, type Row, sharesOf, voiced } from './session-state.ts';

// Signals of a session's pages: which of them each side may send, and how they change the session itself.

/** Both pages read these from the session, so they are not forwarded. */
export const OF_THE_SESSION: ReadonlySet<Signal['type']> = new Set(['choosing', 'voice']);

const running = (make: (row: Row, now: string) => ReturnType<Move>): Move => {
  return (row, now) => (row.status === 'active' ? make(row, now) : { refused: 'remote_session.moved' });
};

/** A side turns its own voice on, mutes it or turns it off. */
function speaks(side: Side, voice: Voice): Move {
  return running((row) => {
    const wasOn = (side === 'customer' ? row.customer_voice : row.technician_voice) !== 'off';
    const isOn = voice !== 'off';
    return {
      set: voiced(side, voice),
      notes: wasOn === isOn ? [] : [{ kind: isOn ? 'remote_voice_on' : 'remote_voice_off' }],
    };
  });
}

/** The change of the session by a customer's signal; undefined for one that is only passed on. */
function moveOf(signal: CustomerSignal): Move | undefined {
  switch (signal.type) {
    case 'choosing':
      return (row, now) => {
        if (!isClaimed(row) || row.joined_at === null) return { refused: 'remote_session.moved' };
        const latest = Date.parse(row.joined_at) + SESSION_LIMITS.consent_longest;
        return { set: { consent_by: new Date(Math.min(latest, Date.parse(now) + SESSION_LIMITS.consent)).toISOString() } };
      };
    case 'share_started':
      return running((row) => {
        const before = sharesOf(row);
        if (before.includes(signal.connection_id)) return { set: {} };
        const shares = [...before, signal.connection_id].slice(-SHARES_MAXIMUM);
        return {
          set: { shares: JSON.stringify(shares), has_shared: 1, unshared_at: null, view: 'screen' },
          notes: before.length === 0 ? [{ kind: 'remote_share_started', details: { surface: signal.surface } }] : [],
        };
      });
    case 'share_stopped':
      return running((row, now) => {
        const before = sharesOf(row);
        const shares = signal.connection_id === null ? [] : before.filter((id) => id !== signal.connection_id);
        const isLast = shares.length === 0 && before.length > 0;
        return {
          set: { shares: JSON.stringify(shares), ...(isLast ? { unshared_at: now, paused_at: null } : {}) },
          notes: isLast ? [{ kind: 'remote_share_stopped' }] : [],
        };
      });
    case 'paused':
      return running((row, now) =>
        row.paused_at === null ? { set: { paused_at: now }, notes: [{ kind: 'remote_session_paused' }] } : { set: {} },
      );
    case 'resumed':
      return running((row) =>
        row.paused_at === null ? { set: {} } : { set: { paused_at: null }, notes: [{ kind: 'remote_session_resumed' }] },
      );
    case 'voice':
      return speaks('customer', signal.state);
    case 'offer':
    case 'candidate':
      return undefined;
  }
}

/** A signal that this side may send; undefined for an invalid one, or the other side's. */
export function readSignal(side: Side, said: unknown): { signal: Signal; move: Move | undefined } | undefined {
  if (side === 'technician') {
    const signal = technicianSignalSchema.safeParse(said).data;
    return signal && { signal, move: signal.type === 'voice' ? speaks('technician', signal.state) : undefined };
  }
  const signal = customerSignalSchema.safeParse(said).data;
  return signal && { signal, move: moveOf(signal) };
}
