import type { UserInfo } from '@palisade/contract/auth';
import type { Endpoint, ReplyOf } from '@palisade/contract/endpoint';
import { type EncodedReply, encodeReply } from './encoded-reply.ts';
import { createPersonCache } from './person-cache.ts';
import type { Call } from './serve.ts';
import { PERSON, STAFF_TOPIC, type TopicName } from './topics/topics.ts';

/** Maximum number of people whose answer of one endpoint is cached: 5 MB if each has 5 kB. */
const PEOPLE_MAXIMUM = 1_000;

/** The parts of a call that a list depends on. */
type ListCall<E extends Endpoint> = Pick<Call<E>, 'query' | 'header'> & { session: { user: UserInfo }; request: { url: string } };

/**
 * Caches answers that pages request repeatedly, until an event is sent to the asker: pages read again at the same events. At most for the time that a `PersonCache` trusts,
 * because some facts change with time alone. A server that is not `alone` caches nothing: changes by other servers are not reported here before a page asks.
 */
export class KeptAnswers {
  private readonly alone: boolean;
  private readonly now: () => number;
  private readonly caches: { isOfStaff: boolean; forget(user_id: string): void; forgetAll(): void }[] = [];

  constructor({ alone, now }: { alone: boolean; now: () => number }) {
    this.alone = alone;
    this.now = now;
  }

  /** Caches answers of one endpoint. `isOfStaff`: their content changes with staff events. */
  keep<E extends Endpoint>(
    endpoint: E,
    read: (me: UserInfo) => Promise<ReplyOf<E>>,
    { isOfStaff = false }: { isOfStaff?: boolean } = {},
  ): (me: UserInfo) => Promise<EncodedReply<ReplyOf<E>>> {
    const encoded = async (me: UserInfo) => encodeReply(endpoint, await read(me));
    if (!this.alone) return encoded;
    const cache = createPersonCache({ read: encoded, keyOf: ({ id }) => id, now: this.now, most: PEOPLE_MAXIMUM });
    this.caches.push({ isOfStaff, forget: cache.forget, forgetAll: cache.forgetAll });
    return cache.of;
  }

  /** Caches answers of a list with their headers, for the address without a query, which pages request repeatedly. With a query the list is read again. */
  keepList<E extends Endpoint>(
    endpoint: E,
    read: (call: ListCall<E>) => Promise<ReplyOf<E>>,
  ): (call: ListCall<E>) => Promise<ReplyOf<E> | EncodedReply<ReplyOf<E>>> {
    if (!this.alone) return read;
    const encoded = async (call: ListCall<E>) => {
      const headers: [string, string][] = [];
      const reply = await read({ ...call, header: (name, value) => void headers.push([name, value]) });
      return { reply: encodeReply(endpoint, reply), headers };
    };
    const keyOf = ({ session }: ListCall<E>) => session.user.id;
    const cache = createPersonCache({ read: encoded, keyOf, now: this.now, most: PEOPLE_MAXIMUM });
    this.caches.push({ isOfStaff: false, forget: cache.forget, forgetAll: cache.forgetAll });
    return async (call) => {
      if (call.request.url.includes('?')) return await read(call);
      const { reply, headers } = await cache.of(call);
      for (const [name, value] of headers) call.header(name, value);
      return reply;
    };
  }

  /** Caches answers that are the same for many people, by what they depend on. */
  keepForAll<E extends Endpoint, Asker>(
    endpoint: E,
    keyOf: (asker: Asker) => string,
    read: (asker: Asker) => Promise<ReplyOf<E>>,
  ): (asker: Asker) => Promise<EncodedReply<ReplyOf<E>>> {
    const encoded = async (asker: Asker) => encodeReply(endpoint, await read(asker));
    if (!this.alone) return encoded;
    const cache = createPersonCache({ read: encoded, keyOf, now: this.now });
    // Events of one person do not change it.
    this.caches.push({ isOfStaff: false, forget: () => {}, forgetAll: cache.forgetAll });
    return cache.of;
  }

  /** Call this before an event of a topic is sent. */
  told(topic: TopicName): void {
    for (const cache of this.caches) {
      if (topic.startsWith(PERSON)) cache.forget(topic.slice(PERSON.length));
      else if (topic === STAFF_TOPIC && cache.isOfStaff) cache.forgetAll();
    }
  }

  /** Call this before an event is sent to everybody, or when data of many people changed. */
  toldAll(): void {
    for (const cache of this.caches) cache.forgetAll();
  }
}
