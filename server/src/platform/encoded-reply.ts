import type { Endpoint, ReplyOf } from '@palisade/contract/endpoint';
import { z } from 'zod';

/** A reply as it is sent, checked by its endpoint's schema: for what many callers ask again before it changes. `Of` keeps the replies of two endpoints apart. */
export class EncodedReply<Of> {
  readonly text: string;
  declare readonly of: Of;

  constructor(text: string) {
    this.text = text;
  }
}

/** Writes a reply as JSON, without what its endpoint's schema does not name. */
export function encodeReply<E extends Endpoint>(endpoint: E, reply: ReplyOf<E>): EncodedReply<ReplyOf<E>> {
  if (endpoint.reply === undefined) throw new Error(`${endpoint.path} has no reply`);
  return new EncodedReply(JSON.stringify(z.encode(endpoint.reply, reply)));
}
