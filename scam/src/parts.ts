import { type CheckedLink, SCAM_ASKS, SCAM_PARTS_MAXIMUM, type ScamAsk, type ScamParts } from '@palisade/contract/scam-check';
import { chainOf, isOdd, type Message, type MessageLink, spanOf } from './message.ts';
import { conceptSpan } from './word-signs.ts';
import type { Concept } from './words/concepts.ts';

/** Concepts that indicate each kind of request. */
const ASKS: Readonly<Record<ScamAsk, readonly Concept[]>> = {
  link: ['click'],
  call: ['call'],
  reply: ['reply'],
  money: ['pay', 'transfer', 'lend', 'advance_fee'],
  gift_card: ['gift_card'],
  crypto: ['crypto'],
  login: ['confirm'],
  card: ['secret_data'],
  code: ['pass_on'],
  install: ['remote_tool'],
  app_chat: ['chat_app'],
};

function trustOf(link: MessageLink): CheckedLink['trust'] {
  if (link.listedBy !== undefined) return 'listed';
  if (
    link.isTrusted ||
    (link.brand !== undefined &&
      !link.address.isFreeHost &&
      !link.address.isShortener &&
      link.redirectsTo === undefined &&
      link.through === undefined)
  )
    return 'trusted';
  return isOdd(link) ? 'suspicious' : 'unknown';
}

function linkPart(link: MessageLink): CheckedLink {
  const { address } = link;
  return {
    shown: (link.label ?? link.shown.replaceAll(/\s+/gu, '')).slice(0, 300),
    url: address.url.href.slice(0, 2_048),
    host: address.host,
    host_shown: address.hostShown,
    owner: address.owner ?? null,
    kind: address.kind,
    brand: link.brand?.name ?? null,
    imitates: link.imitation?.brand.name ?? null,
    trust: trustOf(link),
    span: spanOf(link.text, link),
  };
}

function organisations(message: Message): ScamParts['organisations'] {
  const found = new Map<string, ScamParts['organisations'][number]>();
  for (const { imitation } of message.links.flatMap(chainOf))
    if (imitation !== undefined)
      found.set(imitation.brand.name, { name: imitation.brand.name, domain: imitation.brand.domains[0] ?? '', role: 'imitated' });
  for (const { brand } of message.named)
    if (!found.has(brand.name)) found.set(brand.name, { name: brand.name, domain: brand.domains[0] ?? '', role: 'named' });
  return [...found.values()].slice(0, SCAM_PARTS_MAXIMUM);
}

/** The parts of the input that the result shows. */
export function partsOf(message: Message): ScamParts {
  const { sender } = message;
  const links = message.links
    .filter(({ text }) => text.source !== 'sender' && text.source !== 'reply_to')
    .flatMap(chainOf)
    .map(linkPart);
  const oddity = ({ trust }: CheckedLink) => Number(trust === 'listed' || trust === 'suspicious');
  return {
    // If there are too many, suspicious ones are shown first.
    links: (links.length > SCAM_PARTS_MAXIMUM ? links.toSorted((one, other) => oddity(other) - oddity(one)) : links).slice(
      0,
      SCAM_PARTS_MAXIMUM,
    ),
    sender:
      sender === undefined
        ? null
        : { name: sender.name, address: sender.address, reply_to: sender.replyTo ?? null, proof: sender.proof },
    organisations: organisations(message),
    asks: SCAM_ASKS.flatMap((kind) => {
      const span = conceptSpan(message, ASKS[kind]);
      return span === undefined ? [] : [{ kind, span }];
    }),
    codes: [...message.codes],
    numbers: message.numbers.slice(0, SCAM_PARTS_MAXIMUM).map((number) => ({
      number: number.number,
      country: number.country ?? null,
      kind: number.kind,
      span: spanOf(number.text, number),
    })),
    accounts: message.accounts.slice(0, SCAM_PARTS_MAXIMUM).map((account) => ({
      kind: account.kind,
      account: account.account,
      country: account.country ?? null,
      valid: account.isValid,
      span: spanOf(account.text, account),
    })),
  };
}
