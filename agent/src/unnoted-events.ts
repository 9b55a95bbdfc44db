import { join } from 'node:path';
import { type DeviceEvent, saidSchema } from '@palisade/contract/agent';
import { z } from 'zod';
import { newId } from './ids.ts';
import { createStore, type Store } from './store.ts';

/** The most recent events of each kind wait for the server: frequent events do not displace rare ones. The server requests the last two kinds, and waits for each. */
const EVENTS_MAXIMUM: Record<DeviceEvent['event'], number> = {
  tampered: 20,
  ssh_guessing: 200,
  new_listening_port: 100,
  order_done: 400,
  session_changes: 16,
};
const eventSchema = saidSchema.options[2];
type EventFrame = z.infer<typeof eventSchema>;

/** Events that the server has not noted yet. They are kept on the disk, so that a restart of the agent loses none. */
export class UnnotedEvents {
  readonly #store: Store<unknown[]>;
  readonly #log: (line: string) => void;
  #frames: readonly EventFrame[];
  /** The last write to the disk, or the last one that waits. */
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

  /** Keeps an event, and says it. */
  add(event: DeviceEvent, say: (frame: EventFrame) => void): void {
    const frame: EventFrame = { kind: 'event', id: newId(), at: new Date().toISOString(), event };
    // The server would end every connection over a frame that it cannot parse.
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

  /** Whether an event waits for which `matches` holds. */
  has(matches: (event: DeviceEvent) => boolean): boolean {
    return this.#frames.some(({ event }) => matches(event));
  }

  /** The server has noted these. */
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
