import { takeApart } from './address.ts';
import { patternOf } from './boundaries.ts';
import { PROGRAM_ENDINGS } from './host-rows.ts';
import { ownerOf } from './likeness.ts';
import { mixedLabel } from './look-alike.ts';
import { chainOf, isTargetHidden, isUnknown, type Message, type MessageLink, spanOf } from './message.ts';
import { percentDecoded } from './percent-decoded.ts';
import type { Detector, Sign } from './signs.ts';
import type { Surroundings } from './surroundings.ts';

/** A detector of a sign of single links; the span is the link. */
interface LinkRow {
  code: Sign['code'];
  weight: (link: MessageLink, message: Message) => Sign['weight'];
  /** Returns the parameters of the sign; undefined if the link does not have it. */
  params: (link: MessageLink, surroundings: Surroundings) => Record<string, string> | undefined;
}

const always = (weight: Sign['weight']) => () => weight;
/** Parameters with the host in Unicode. */
const place = (link: MessageLink) => ({ host: link.address.hostShown });

function imitation(link: MessageLink, ways: readonly string[]) {
  if (link.imitation === undefined || !ways.includes(link.imitation.way)) return undefined;
  const { name, domains } = link.imitation.brand;
  return { ...place(link), brand: name, domain: domains[0] ?? '' };
}

/**
 * Harmless IP addresses: private and local ones (RFC 1918, 6598, 3927, 4193, 4291), and those of public DNS
 * resolvers, which instructions tell people to type.
 */
const OWN_NETWORK = patternOf(
  'u',
  String.raw`^(?:10|127|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.`,
  String.raw`|^\[(?:::1\]|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)`,
);
const RESOLVERS = new Set([
  '1.1.1.1',
  '1.0.0.1',
  '8.8.8.8',
  '8.8.4.4',
  '9.9.9.9',
  '149.112.112.112',
  '208.67.222.222',
  '208.67.220.220',
]);
const isKnownNumber = (host: string) => OWN_NETWORK.test(host) || RESOLVERS.has(host);

/** The domain in the visible text of a link; undefined if the text is not a domain. */
function shownHost(link: MessageLink): string | undefined {
  const label = link.label?.trim() ?? '';
  if (!/^(?:https?:\/\/)?(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}(?:[/?#]\S*)?$/u.test(label)) return undefined;
  const address = takeApart(/^https?:/iu.test(label) ? label : `http://${label}`);
  return address?.domain === undefined || address.domain === link.address.domain ? undefined : address.host;
}

const ROWS: readonly LinkRow[] = [
  {
    code: 'listed_domain',
    weight: always(3),
    params: (link) => (link.listedBy === undefined ? undefined : { ...place(link), list: link.listedBy }),
  },
  {
    code: 'lookalike_domain',
    weight: always(2),
    params: (link) => imitation(link, ['same_shape', 'one_letter', 'other_ending']),
  },
  { code: 'brand_in_address', weight: always(2), params: (link) => imitation(link, ['with_words', 'in_subdomain', 'in_path']) },
  {
    code: 'mixed_letters',
    weight: always(2),
    params: (link) => (mixedLabel(link.address) === undefined ? undefined : place(link)),
  },
  {
    code: 'user_before_at',
    weight: always(2),
    params: ({ address }) =>
      (address.kind === 'web' || address.kind === 'number_address') && address.url.username !== ''
        ? { shown: percentDecoded(address.url.username), host: address.hostShown }
        : undefined,
  },
  {
    code: 'number_address',
    weight: (link) => (isKnownNumber(link.address.host) ? 1 : 2),
    params: (link) =>
      link.address.kind === 'number_address' && link.address.url.protocol.startsWith('http') && /^https?:/iu.test(link.shown)
        ? place(link)
        : undefined,
  },
  {
    code: 'code_in_link',
    weight: always(2),
    params: (link) => (link.address.kind === 'code' ? { scheme: link.address.url.protocol } : undefined),
  },
  {
    code: 'disguised_link',
    weight: always(2),
    params: (link) => (link.isDisguised && isUnknown(link) ? place(link) : undefined),
  },
  {
    code: 'link_text_differs',
    // Strong only if a brand's address is shown, because newsletters use other addresses to count clicks.
    weight: always(2),
    params: (link, { brands }) => {
      const shown = shownHost(link);
      const brand = shown === undefined ? undefined : ownerOf(brands, shown);
      const target = chainOf(link).at(-1) ?? link;
      if (shown === undefined || brand === undefined || !isUnknown(link) || target.brand !== undefined) return undefined;
      return { shown, host: target.address.hostShown };
    },
  },
  {
    code: 'open_redirect',
    weight: always(1),
    params: (link) =>
      (link.through === undefined || link.through === 'open') && link.redirectsTo !== undefined && isUnknown(link.redirectsTo)
        ? { ...place(link), target: link.redirectsTo.address.hostShown }
        : undefined,
  },
  {
    code: 'program_link',
    weight: always(2),
    params: (link) => {
      const ending = /\.([a-z0-9]{2,12})$/u.exec(link.address.url.pathname.toLowerCase())?.[1] ?? '';
      return link.address.kind !== 'mail' && isUnknown(link) && PROGRAM_ENDINGS.has(ending)
        ? { ...place(link), ending }
        : undefined;
    },
  },
  {
    code: 'hidden_target',
    weight: always(1),
    params: (link) => (link.through !== undefined && isTargetHidden(link) ? place(link) : undefined),
  },
  { code: 'shortened_link', weight: always(1), params: (link) => (link.address.isShortener ? place(link) : undefined) },
  {
    code: 'free_hosting',
    weight: always(1),
    params: (link) =>
      link.address.isFreeHost && link.brand === undefined && link.through === undefined ? place(link) : undefined,
  },
  {
    code: 'throwaway_ending',
    weight: always(1),
    params: (link) => (link.address.isThrowaway && isUnknown(link) ? { ...place(link), ending: link.address.ending } : undefined),
  },
];

export const LINK_DETECTORS: readonly Detector[] = ROWS.map(({ code, weight, params }) => ({
  id: code,
  find: (message, surroundings) =>
    message.links
      // Senders of emails have their own detectors.
      .filter(({ text }) => text.source !== 'sender' && text.source !== 'reply_to')
      .flatMap(chainOf)
      .filter((link) => !link.isTrusted || code === 'open_redirect')
      // Of mail addresses only imitations are reported.
      .filter((link) => link.address.kind !== 'mail' || code === 'lookalike_domain' || code === 'brand_in_address')
      .flatMap((link) => {
        const found = params(link, surroundings);
        return found === undefined ? [] : [{ code, weight: weight(link, message), params: found, span: spanOf(link.text, link) }];
      }),
}));
