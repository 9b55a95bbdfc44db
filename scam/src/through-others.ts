import { isBelow } from './address.ts';
import { percentDecoded } from './percent-decoded.ts';

/**
 * Services that stand between a link and its page. `gateway`: a mail program checks each link there. `page`: the page is shown
 * under the name of the service. `messenger`: each link of a program goes through it. `counter`: newsletters count clicks there.
 * `open`: anybody can send a browser on from there.
 */
export type PassingKind = 'gateway' | 'page' | 'messenger' | 'counter' | 'open';

/** The service of a link, and the addresses that the link names as its target: none where they are hidden. */
interface Passing {
  kind: PassingKind;
  targets: string[];
}

/** Undefined: the address is no link through the service. */
type Read = (url: URL) => readonly (string | null | undefined)[] | undefined;
interface Row {
  kind: PassingKind;
  hosts: ReadonlySet<string>;
  read: Read;
  /** Other paths of the host are pages of its own. */
  path: RegExp | undefined;
}

const TARGET_LENGTH_MAXIMUM = 2_048;
const HOST_WITH_PATH = /^(?:[\p{L}\p{N}_-]+\.)+[\p{L}-]{2,24}(?::\d+)?(?:[/?#]|$)/u;

/** A text as an address: encoded once more than it should be, with one slash lost, or without a scheme. */
export function targetOf(value: string | null | undefined): string | undefined {
  const text = (value ?? '').trim().slice(0, TARGET_LENGTH_MAXIMUM);
  const plain = /^https?%3a/iu.test(text) ? percentDecoded(text) : text;
  if (/^https?:\/+[^/]/iu.test(plain)) return plain.replace(/^(https?:)\/+/iu, '$1//');
  return HOST_WITH_PATH.test(plain) ? `http://${plain}` : undefined;
}

const hidden: Read = () => [];
/** The first of the parameters that the address has. Their names are compared without case. */
const parameter =
  (...names: string[]) =>
  (url: URL) =>
    names.map((name) => [...url.searchParams].find(([key]) => key.toLowerCase() === name)?.[1]);
const base64 = (text: string | null) => Buffer.from((text ?? '').replaceAll(' ', '+'), 'base64').toString('utf8');
const wholePath = (url: URL) => `${url.pathname}${url.search}${url.hash}`;
/** The part of path and query that a pattern captures. */
const inPath = (pattern: RegExp) => (url: URL) => {
  const found = pattern.exec(wholePath(url))?.[1];
  return [found, found === undefined ? undefined : percentDecoded(found)];
};
const restOfPath = inPath(/\/(https?(?::|%3a)(?:\/|%2f)+.{3,})$/iu);

/** Proofpoint URL Defense 2: `-` stands for `%` and `_` for a slash (its decoder is published as urldecoder.py). */
const proofpoint2: Read = (url) => [percentDecoded((url.searchParams.get('u') ?? '').replaceAll('-', '%').replaceAll('_', '/'))];

const RUN_LENGTHS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Proofpoint URL Defense 3: `*` stands for one letter of those behind `__;`, and `**` with a sign for several of them. */
const proofpoint3: Read = (url) => {
  const [, target = '', letters = ''] = /__(.{3,}?)__;([\w-]{0,2000})/u.exec(wholePath(url)) ?? [];
  const replaced = [...base64(letters)];
  const length = (run: string | undefined) => (run === undefined ? 1 : RUN_LENGTHS.indexOf(run) + 2);
  return [target.replaceAll(/\*(?:\*([\w-]))?/gu, (_, run?: string) => replaced.splice(0, length(run)).join(''))];
};

/** `evil--host-com.translate.goog`: a dot is a hyphen, a hyphen two. */
const translatedHost: Read = ({ hostname, pathname }) => {
  const host = hostname.replace(/\.translate\.goog$/u, '').replaceAll(/--|-/gu, (sign) => (sign === '--' ? '-' : '.'));
  return [`${host}${pathname}`];
};

/** An address among the words of a message that the link prepares. */
const inWords: Read = (url) => /https?:\/\/\S+/iu.exec(url.searchParams.get('text') ?? '')?.slice(0, 1);

const row = (kind: PassingKind, hosts: string, read: Read = hidden, path?: RegExp): Row => ({
  kind,
  hosts: new Set(hosts.split(' ')),
  read,
  path,
});

/** The first row that fits reads the link. Formats: the links that these services write into public mailing lists and pages. */
const ROWS: readonly Row[] = [
  // Mail gateways.
  row('gateway', 'urldefense.proofpoint.com urldefense.com urldefense.us', proofpoint2, /^\/v2\//u),
  row('gateway', 'urldefense.proofpoint.com urldefense.com urldefense.us', proofpoint3, /^\/v3\//u),
  row('gateway', 'urldefense.proofpoint.com urldefense.com urldefense.us', parameter('u')),
  row('gateway', 'emailprotection.link'),
  row('gateway', 'linkprotect.cudasvc.com', parameter('a')),
  row('gateway', 'safelinks.protection.outlook.com safelinks.protection.office365.us', parameter('url')),
  row('gateway', 'statics.teams.cdn.office.net', parameter('url'), /safelinks/u),
  // Mimecast names the host alone, and not in every link.
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
  // The page of another under the name of the service.
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
  // Programs that send every link through an address of their own.
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
  // Search engines and advertisements.
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
  // Click counters of newsletters; most keep the target to themselves.
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

/** `intent://host/path#Intent;scheme=https;S.browser_fallback_url=...;end` of Android: an application, or a page in its place. */
function intentTargets(url: URL): string[] {
  const fields = new Map(url.hash.split(';').map((field) => [field.split('=')[0] ?? '', field.slice(field.indexOf('=') + 1)]));
  const scheme = fields.get('scheme') ?? '';
  const named = /^https?$/iu.test(scheme) ? `${scheme}:${url.href.slice('intent:'.length).split('#')[0]}` : undefined;
  return [targetOf(named), targetOf(percentDecoded(fields.get('S.browser_fallback_url') ?? ''))].filter(
    (target) => target !== undefined,
  );
}

/** The service that a link goes through; undefined for the link of any other host. */
export function passingOf(url: URL, host: string): Passing | undefined {
  if (url.protocol === 'intent:') return { kind: 'open', targets: intentTargets(url) };
  const found = ROWS.find(({ hosts, path }) => isBelow(host, hosts) && (path === undefined || path.test(url.pathname)));
  const named = found?.read(url);
  if (found === undefined || named === undefined) return undefined;
  const target = named.map(targetOf).find((one) => one !== undefined);
  return { kind: found.kind, targets: target === undefined ? [] : [target] };
}
