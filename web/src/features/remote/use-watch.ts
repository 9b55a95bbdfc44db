import type { LiveSession } from '@palisade/contract/remote-record';
import type { TechnicianSignal } from '@palisade/contract/remote-signal';
import { useEffect, useRef, useState } from 'react';
import { hearTopic, onEvent, saySignal } from '#api/events.ts';
import type { Link } from './connection.ts';
import { readAhead, readIceServers } from './ice.ts';
import type { Mark } from './marks.ts';
import { createWatcher, type Picture, type Watcher } from './peer.ts';
import { describeQuality, type Reading, readQuality } from './quality.ts';

/** State of a session on the technician's page. */
export interface Watch {
  /** `ours`: this page serves the session. Only one window of a person can. */
  place: 'asked' | 'ours' | 'taken';
  pictures: readonly Picture[];
  link: Link;
  code: string | undefined;
  /** From the customer's page, which reports it sooner than the server. */
  isPaused: boolean;
}

const NOTHING: Watch = { place: 'asked', pictures: [], link: { state: 'waiting' }, code: undefined, isPaused: false };

/** Interval at which a missing shared picture is requested, in ms. */
const ASKED_EVERY = 3_000;

/** Watches a session while the component is mounted. A new `turn` makes this window the session's page. */
export function useWatch({ id, is_paused }: Pick<LiveSession, 'id' | 'is_paused'>, turn: number) {
  const [watch, setWatch] = useState(NOTHING);
  const watcher = useRef<Watcher>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each turn starts again
  useEffect(() => {
    const set = (change: Partial<Watch>) => setWatch((before) => ({ ...before, ...change }));
    const say = (signal: TechnicianSignal) => saySignal(id, signal);
    setWatch(NOTHING);
    let isRunning = false;
    let hasReadAhead = false;
    const own = createWatcher({
      ice: () => readIceServers(id),
      send: say,
      onLink: (link) => set({ link }),
      onCode: (code) => set({ code }),
      onPictures: (pictures) => set({ pictures }),
    });
    watcher.current = own;
    const leave = hearTopic({ session_id: id }, () => {}, {
      onListening: () => set({ place: 'ours' }),
      onRefused(isTaken) {
        if (!isTaken) return;
        end();
        set({ ...NOTHING, place: 'taken' });
      },
    });
    // An offer is sent only to a connected page, so a page that joined or reconnected later requests one.
    const askForOffer = () => {
      if (isRunning && !own.isBusy()) say({ type: 'offer_wanted' });
    };
    const asking = setInterval(askForOffer, ASKED_EVERY);
    const stops = [
      leave,
      () => clearInterval(asking),
      onEvent('remote_changed', ({ session }) => {
        if (session.id !== id) return;
        // The customer has just approved, so their offer comes next.
        if (session.status === 'active' && !hasReadAhead && !own.isBusy()) {
          hasReadAhead = true;
          readAhead(id);
        }
        isRunning = session.status === 'active' && session.share === 'running' && session.is_customer_here;
        askForOffer();
      }),
      onEvent('remote_signal', ({ session_id, from, signal }) => {
        if (session_id !== id || from !== 'customer') return;
        own.take(signal);
        if (signal.type === 'paused') set({ isPaused: true });
        if (signal.type === 'resumed' || signal.type === 'share_stopped') set({ isPaused: false });
      }),
    ];
    function end(): void {
      own.close();
      for (const stop of stops.splice(0)) stop();
    }
    return end;
  }, [id, turn]);

  useEffect(() => setWatch((before) => ({ ...before, isPaused: is_paused })), [is_paused]);

  return {
    ...watch,
    mark: (connection_id: string, mark: Mark) => watcher.current?.mark(connection_id, mark) ?? false,
    /** Requests a new offer. */
    again: () => saySignal(id, { type: 'offer_wanted' }),
    stats: async (connection_id: string) => await watcher.current?.stats(connection_id),
  };
}

/** Interval at which the quality is measured, in ms. */
const MEASURED_EVERY = 2_000;

/** Present quality of a picture, in one line. */
export function useQuality(
  connection_id: string | undefined,
  stats: (connection_id: string) => Promise<RTCStatsReport | undefined>,
): string | undefined {
  const [line, setLine] = useState<string>();
  const ask = useRef(stats);
  ask.current = stats;
  useEffect(() => {
    if (connection_id === undefined) return undefined;
    let before: Reading | undefined;
    let isOver = false;
    const measure = async () => {
      const report = await ask.current(connection_id);
      if (isOver || !report) return;
      const { quality, reading } = readQuality(report, before);
      before = reading;
      setLine(describeQuality(quality));
    };
    void measure();
    const timer = setInterval(() => void measure(), MEASURED_EVERY);
    return () => {
      isOver = true;
      clearInterval(timer);
      setLine(undefined);
    };
  }, [connection_id]);
  return line;
}
