import { isBelow } from './address.ts';
import { percentDecoded } from './percent-decoded.ts';

/**
 * Kinds of services between a link and its page. `gateway`: a mail security service checks each link. `page`: the page is shown
 * under the service's domain. `messenger`: an application routes each link through it. `counter`: counts clicks of newsletters.
 * `open`: an open redirect, which anyone can use.
 */
export type PassingKind = 'gateway' | 'page' | 'messenger' | 'counter' | 'open';

/** The kind of service of a link, and the target addresses in the link; empty if they are hidden. */
interface Passing {
  kind: PassingKind;
  targets: string[];
}

/** Returns the target addresses; undefined if the address is not a link through the service. */
type Read = (url: URL) => readonly (string | null | undefined)[] | undefined;
interface Row {
  kind: PassingKind;
  hosts: ReadonlySet<string>;
  read: Read;
  /** Pattern of paths that redirect. Other paths are the service's own pages. */
  path: RegExp | undefined;
}

const TARGET_LENGTH_MAXIMUM = 2_048;
const HOST_WITH_PATH = /^(?:[\p{L}\p{N}_-]+\.)+[\p{L}-]{2,24}(?::\d+)?(?:[/?#]|$)/u;

/** Repairs a target address: double percent-encoding, a missing slash, or a missing scheme. */
export function targetOf(value: string | null | undefined): string | undefined {
  const text = (value ?? '').trim().slice(0, TARGET_LENGTH_MAXIMUM);
  const plain = /^https?%3a/iu.test(text) ? percentDecoded(text) : text;
  if (/^https?:\/+[^/]/iu.test(plain)) return plain.replace(/^(https?:)\/+/iu, '$1//');
  return HOST_WITH_PATH.test(plain) ? `http://${plain}` : undefined;
}

const hidden: Read = () => [];
/** Reads the first of these parameters that the address has. Names are compared case-insensitively. */
const parameter =
  (...names: string[]) =>
  (url: URL) =>
    names.map((name) => [...url.searchParams].find(([key]) => key.toLowerCase() === name)?.[1]);
const base64 = (text: string | null) => Buffer.from((text ?? '').replaceAll(' ', '+'), 'base64').toString('utf8');
const wholePath = (url: URL) => `${url.pathname}${url.search}${url.hash}`;
/** Reads the capture group of a pattern in path and query. */
const inPath = (pattern: RegExp) => (url: URL) => {
  const found = pattern.exec(wholePath(url))?.[1];
  return [found, found === undefined ? undefined : percentDecoded(found)];
};
const restOfPath = inPath(/\/(https?(?::|%3a)(?:\/|%2f)+.{3,})$/iu);

/** Proofpoint URL Defense 2: `-` stands for `%` and `_` for a slash (its decoder is published as urldecoder.py). */
const proofpoint2: Read = (url) => [percentDecoded((url.searchParams.get('u') ?? '').replaceAll('-', '%').replaceAll('_', '/'))];

const RUN_LENGTHS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Proofpoint URL Defense 3: `*` stands for one of the characters after `__;`, and `**` with a length character for several of them. */
const proofpoint3: Read = (url) => {
  const [, target = '', letters = ''] = /__(.{3,}?)__;([\w-]{0,2000})/u.exec(wholePath(url)) ?? [];
  const replaced = [...base64(letters)];
  const length = (run: string | undefined) => (run === undefined ? 1 : RUN_LENGTHS.indexOf(run) + 2);
  return [target.replaceAll(/\*(?:\*([\w-]))?/gu, (_, run?: string) => replaced.splice(0, length(run)).join(''))];
};

/** Google Translate, `evil--host-com.translate.goog`: a hyphen stands for a dot, two hyphens for a hyphen. */
const translatedHost: Read = ({ hostname, pathname }) => {
  const host = hostname.replace(/\.translate\.goog$/u, '').replaceAll(/--|-/gu, (sign) => (sign === '--' ? '-' : '.'));
  return [`${host}${pathname}`];
};

/** An address in the message text that the link contains. */
const inWords: Read = (url) => /https?:\/\/\S+/iu.exec(url.searchParams.get('text') ?? '')?.slice(0, 1);

const row = (kind: PassingKind, hosts: string, read: Read = hidden, path?: RegExp): Row => ({
  kind,
  hosts: new Set(hosts.split(' ')),
  read,
  path,
});

/** The first matching row is used. The formats come from links of these services in public mailing lists and pages. */
const ROWS: readonly Row[] = [
  // Mail gateways.
  row('gateway', 'urldefense.proofpoint.com urldefense.com urldefense.us', proofpoint2, /^\/v2\//u),
  row('gateway', 'urldefense.proofpoint.com urldefense.com urldefense.us', proofpoint3, /^\/v3\//u),
  row('gateway', 'urldefense.proofpoint.com urldefense.com urldefense.us', parameter('u')),
  row('gateway', 'emailprotection.link'),
  row('gateway', 'linkprotect.cudasvc.com', parameter('a')),
  row('gateway', 'safelinks.protection.outlook.com safelinks.protection.office365.us', parameter('url')),
  row('gateway', 'statics.teams.cdn.office.net', parameter('url'), /safelinks/u),
  // Mimecast includes only the host, and not in every link.
  row('gateway', 'mimecast.com mimecastprotect.com', parameter('domain'), /^\/(?:s|r|redirect|ttpwp)\b/u),
  row('gateway', 'secure-web.cisco.com', restOfPath),
  row('gateway', 'clicktime.symantec.com', (url) => [...parameter('u')(url), ...restOfPath(url)]),
  row('gateway', 'clicktime.cloud.postoffice.net', parameter('u')),
  row('gateway', 'trendmicro.com', parameter('url'), /^\/(?:wis\/clicktime|clicktime)\//u),
  row('gateway', 'tmase.trendmicro.com check.trendmicro.com', parameter('url', 'u')),
  row('gateway', 'protection.sophos.com', (url) => [base64(url.searchParams.get('u')), url.searchParams.get('d')]),
  row('gateway', 'fireeye.com trellix.com', parameter('u'), /^\/(?:v\d\/)?url$/u),
  row('gateway', 'fortimailcloud.com fortimail.com', parameter('url'), /^\/fmlurlsvc\//u),
  row('gateway', 'mailcontrol.com', parameter('url', 'u'), /^\/sr\//u),
  row('gateway', 'link.zixcentral.com link.edgepilot.com', parameter('u')),
  row('gateway', 'url.avanan.click avanan.click protect.checkpoint.com', inPath(/___(.{3,})___/u)),
  row('gateway', 'defend.egress.com', parameter('url', 'domain')),
  row('gateway', 'inky.com', parameter('url', 'domain'), /^\/link/u),
  row('gateway', 'links.greathorn.com', parameter('url', 'u')),
  row('gateway', 'scanmail.trustwave.com', parameter('u')),
  row('gateway', 'atpscan.global.hornetsecurity.com', parameter('u')),
  row('gateway', 'vadesecure.com', parameter('u', 'url'), /^\/(?:v\d\/)?(?:safeproxy|link|url)/u),
  row('gateway', 'urlsand.esvalabs.com urlsand.com', parameter('u')),
  row(
    'gateway',
    'mailanyone.net url.serverdata.net mailinblack.com linkscan.io linkprotect.ironscales.com',
    parameter('url', 'u'),
  ),
  row('gateway', 'emaillinkprotection.azure.com', parameter('destination')),
  row('gateway', 'deref-gmx.net deref-web.de deref-mail.com deref-1und1.de deref-web-02.de', parameter('redirecturl')),
  // Pages of others under the service's domain.
  row('page', 'google.com', inPath(/^\/amp\/(?:s\/)?(.{3,})$/u), /^\/amp\//u),
  row('page', 'cdn.ampproject.org', inPath(/^\/[a-z]{1,2}\/(?:s\/)?(.{3,})$/u)),
  row('page', 'bing-amp.com', inPath(/^\/c\/(?:s\/)?(.{3,})$/u)),
  row('page', 'translate.goog', translatedHost),
  row('page', 'translate.google.com translate.googleusercontent.com', parameter('u'), /^\/(?:translate|website)/u),
  row('page', 'translatetheweb.com microsofttranslator.com', parameter('a')),
  row('page', 'translate.yandex.com translate.yandex.ru papago.naver.net', parameter('url')),
  row('page', 'web.archive.org', inPath(/^\/(?:web|save)\/(?:\d{1,14}[a-z_]{0,4}\/|\*\/)?(.{3,})$/u)),
  row('page', 'webcache.googleusercontent.com', (url) => [
    /^cache:(?:[\w-]+:)?(\S+)/u.exec(url.searchParams.get('q') ?? '')?.[1],
  ]),
  row(
    'page',
    'archive.ph archive.is archive.today archive.li archive.vn archive.fo archive.md ghostarchive.org perma.cc',
    restOfPath,
  ),
  // Applications that route every link through their own address.
  row('messenger', 'facebook.com messenger.com', parameter('u'), /^\/(?:l\.php|flx\/warn)/u),
  row('messenger', 'l.instagram.com l.threads.com l.threads.net l.wl.co', parameter('u')),
  row('messenger', 'out.reddit.com exit.sc gate.sc', parameter('url')),
  row('messenger', 'linkedin.com', parameter('url'), /^\/(?:redir\/|safety\/go)/u),
  row('messenger', 'slack-redir.net', parameter('url')),
  row('messenger', 'steamcommunity.com', parameter('url', 'u'), /^\/linkfilter/u),
  row('messenger', 'vk.com m.vk.com', parameter('to'), /^\/away/u),
  row('messenger', 'ok.ru', parameter('st.link'), /^\/dk/u),
  row('messenger', 't.me telegram.me', parameter('url'), /^\/(?:iv|share)/u),
  row('messenger', 'wa.me api.whatsapp.com web.whatsapp.com', inWords),
  row('messenger', 'line.me', inWords, /^\/R\/(?:share|msg)/u),
  row('messenger', 't.umblr.com', parameter('z')),
  row('messenger', 'link.zhihu.com', parameter('target')),
  row('messenger', 'quora.com x.com twitter.com', parameter('url'), /^\/(?:_|i)\/redirect/u),
  // Open redirects of search engines and advertisements.
  row('open', 'google.com', parameter('q', 'url', 'adurl'), /^\/(?:url|aclk|pagead)/u),
  row('open', 'googleadservices.com doubleclick.net', parameter('adurl', 'ds_dest_url', 'url')),
  row('open', 'youtube.com', parameter('q'), /^\/redirect/u),
  row('open', 'duckduckgo.com', parameter('uddg'), /^\/l\//u),
  row('open', 'bing.com', (url) => [base64(url.searchParams.get('u')?.replace(/^a1/u, '') ?? null)], /^\/ck\/a/u),
  row('open', 'search.yahoo.com', inPath(/\/RU=([^/]{3,})\//u)),
  row('open', 'baidu.com', parameter('url'), /^\/link/u),
  row(
    'open',
    'deviantart.com href.li anonym.to nullrefer.com hidereferrer.com',
    ({ search }) => [search.slice(1)],
    /^\/(?:users\/outgoing)?$/u,
  ),
  // Click counters of newsletters; most do not include the target.
  row('counter', 'awstrack.me', inPath(/^\/L\d\/([^/]{3,})\//u)),
  row('counter', 'mandrillapp.com', inPath(/^\/track\/click\/\d+\/([^/?]{3,})/u)),
  row('counter', 'pstmrk.it', inPath(/^\/\d?[a-z]{1,2}\/([^/]{3,})\//u)),
  row('counter', 'sendgrid.net', hidden, /^\/(?:ls|wf|uni)\//u),
  row('counter', 'hubspotlinks.com hubspotemail.net hubspotstarter.net hs-sales-engage.com hsforms.com t.hubspotfree.net'),
  row('counter', 'list-manage.com', hidden, /^\/track\//u),
  row('counter', 'exct.net exacttarget.com sfmc-content.com s4.exct.net pardot.com mktoweb.com mkt-email.com'),
  row(
    'counter',
    'mailgun.org sparkpostmail.com sparkpostmail2.com sendibm1.com sendibm2.com sendibm3.com sendibt2.com sendibt3.com',
  ),
  row('counter', 'mjt.lu rs6.net createsend1.com cmail19.com cmail20.com klclick.com klclick1.com klclick3.com trk.klclick.com'),
  row('counter', 'activehosted.com acemlnb.com emltrk.com customeriomail.com convertkit-mail.com convertkit-mail2.com dmtrk.net'),
  row('counter', 'crsend.com emailsys1a.net emarsys.net mlsend.com mlsend2.com braze.com bmetrack.com'),
];

/** Targets of Android's `intent://host/path#Intent;scheme=https;S.browser_fallback_url=...;end`: an application, or a fallback page. */
function intentTargets(url: URL): string[] {
  const fields = new Map(url.hash.split(';').map((field) => [field.split('=')[0] ?? '', field.slice(field.indexOf('=') + 1)]));
  const scheme = fields.get('scheme') ?? '';
  const named = /^https?$/iu.test(scheme) ? `${scheme}:${url.href.slice('intent:'.length).split('#')[0]}` : undefined;
  return [targetOf(named), targetOf(percentDecoded(fields.get('S.browser_fallback_url') ?? ''))].filter(
    (target) => target !== undefined,
  );
}

/** The service of a link; undefined for all other hosts. */
export function passingOf(url: URL, host: string): Passing | undefined {
  if (url.protocol === 'intent:') return { kind: 'open', targets: intentTargets(url) };
  const found = ROWS.find(({ hosts, path }) => isBelow(host, hosts) && (path === undefined || path.test(url.pathname)));
  const named = found?.read(url);
  if (found === undefined || named === undefined) return undefined;
  const target = named.map(targetOf).find((one) => one !== undefined);
  return { kind: found.kind, targets: target === undefined ? [] : [target] };
}
