import { join } from 'node:path';
import { type DeviceEvent, saidSchema } from '@palisade/contract/agent';
import { z } from 'zod';
import { newId } from './ids.ts';
import { createStore, type Store } from './store.ts';

/** Maximum unconfirmed events by kind: frequent events do not displace rare ones. The last two kinds answer requests of the server, which waits for each. */
const EVENTS_MAXIMUM: Record<DeviceEvent['event'], number> = {
  tampered: 20,
  ssh_guessing: 200,
  new_listening_port: 100,
  order_done: 400,
  session_changes: 16,
};
const eventSchema = saidSchema.options[2];
type EventFrame = z.infer<typeof eventSchema>;

/** Events that the server has not confirmed yet. They are kept on disk, so that a restart of the agent loses none. */
export class UnnotedEvents {
  readonly #store: Store<unknown[]>;
  readonly #log: (line: string) => void;
  #frames: readonly EventFrame[];
  /** The latest write to disk, running or queued. */
  #writing = Promise.resolve();

  private constructor(store: Store<unknown[]>, kept: readonly EventFrame[], log: (line: string) => void) {
    this.#store = store;
    this.#frames = kept;
    this.#log = log;
  }

  /** @param folder of the agent's state */
  static async open(folder: string, log: (line: string) => void): Promise<UnnotedEvents> {
    const store = createStore(join(folder, 'events.json'), z.array(z.unknown()));
    const kept = ((await store.read()) ?? []).flatMap((frame) => eventSchema.safeParse(frame).data ?? []);
    return new UnnotedEvents(store, kept, log);
  }

  get frames(): readonly EventFrame[] {
    return this.#frames;
  }

  /** Stores an event, and sends it. */
  add(event: DeviceEvent, say: (frame: EventFrame) => void): void {
    const frame: EventFrame = { kind: 'event', id: newId(), at: new Date().toISOString(), event };
    // The server closes the connection on a frame that it cannot parse; a stored one would close every later connection.
    if (!eventSchema.safeParse(frame).success) {
      this.#log(`what happened cannot be said: ${event.event}`);
      return;
    }
    const alike = this.#frames.filter(({ event: one }) => one.event === event.event);
    const [oldest] = alike;
    const is_full = alike.length >= EVENTS_MAXIMUM[event.event];
    if (is_full) this.#log(`more happened than can wait for the server: the oldest is forgotten (${event.event})`);
    this.#frames = [...this.#frames.filter((one) => !(is_full && one === oldest)), frame];
    this.#write();
    say(frame);
  }

  /** Whether an unconfirmed event matches. */
  has(matches: (event: DeviceEvent) => boolean): boolean {
    return this.#frames.some(({ event }) => matches(event));
  }

  /** Removes events that the server has confirmed. */
  noted(ids: readonly string[]): void {
    this.#frames = this.#frames.filter(({ id }) => !ids.includes(id));
    this.#write();
  }

  #write(): void {
    this.#writing = this.#writing
      .then(() => this.#store.write([...this.#frames]))
      .catch(() => this.#log('what happened could not be kept on the disk'));
  }
}
