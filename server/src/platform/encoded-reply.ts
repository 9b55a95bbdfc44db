import type { Endpoint, ReplyOf } from '@palisade/contract/endpoint';
import { z } from 'zod';

/** A serialized reply, checked by its endpoint's schema: for replies that many callers request before they change. `Of` distinguishes the replies of two endpoints by type. */
export class EncodedReply<Of> {
  readonly text: string;
  declare readonly of: Of;

  constructor(text: string) {
    this.text = text;
  }
}

/** Serializes a reply as JSON, without fields that its endpoint's schema does not name. */
export function encodeReply<E extends Endpoint>(endpoint: E, reply: ReplyOf<E>): EncodedReply<ReplyOf<E>> {
  if (endpoint.reply === undefined) throw new Error(`${endpoint.path} has no reply`);
  return new EncodedReply(JSON.stringify(z.encode(endpoint.reply, reply)));
}
