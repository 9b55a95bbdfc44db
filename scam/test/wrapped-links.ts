const base64 = (text: string) => Buffer.from(text).toString('base64');
const encoded = encodeURIComponent;
const withoutScheme = (url: string) => url.replace(/^https?:\/\//u, '');

/** A link as each gateway, page and messenger writes it, with the target in it. */
export const WRAPPERS: Readonly<Record<string, (url: string) => string>> = {
  'Proofpoint 1': (url) => `https://urldefense.proofpoint.com/v1/url?u=${encoded(url)}&k=oIvRg1&r=AbC&s=d3583`,
  'Proofpoint 2': (url) =>
    `https://urldefense.proofpoint.com/v2/url?u=${encoded(url).replaceAll('-', '%2D').replaceAll('_', '%5F').replaceAll('%2F', '_').replaceAll('%', '-')}&d=DwMFaQ&c=Vx&e=`,
  'Proofpoint 3': (url) => `https://urldefense.com/v3/__${url}__;!!N11eV2iwtfs!tRuC$`,
  Barracuda: (url) => `https://linkprotect.cudasvc.com/url?a=${encoded(url)}&c=E,1,6oCq&typo=1`,
  'Safe Links': (url) => `https://nam02.safelinks.protection.outlook.com/?url=${encoded(url)}&data=05%7C02&reserved=0`,
  'Safe Links in Teams': (url) =>
    `https://statics.teams.cdn.office.net/evergreen-assets/safelinks/1/atp-safelinks.html?url=${encoded(url)}&locale=en`,
  Mimecast: (url) => `https://protect-eu.mimecast.com/s/AbCdEfG?domain=${new URL(url).hostname}`,
  Cisco: (url) => `https://secure-web.cisco.com/1AbCdEf_gh/${encoded(url)}`,
  Symantec: (url) => `https://clicktime.symantec.com/3AbCdE?u=${encoded(url)}`,
  'Trend Micro': (url) => `https://ddec1-0-en-ctp.trendmicro.com/wis/clicktime/v1/query?url=${encoded(url)}&umid=cdcc&auth=764a`,
  Sophos: (url) => `https://eu-central-1.protection.sophos.com/?d=${new URL(url).hostname}&u=${encoded(base64(url))}&i=NjA5`,
  Trellix: (url) => `https://protect2.fireeye.com/v1/url?k=84f6a8c0&q=1&e=6739af06&u=${encoded(url)}`,
  Fortinet: (url) => `https://eu.fortimailcloud.com/fmlurlsvc/?fewReq=:B:abc&url=${encoded(url)}`,
  Zix: (url) => `https://link.zixcentral.com/u/1a2b3c4d/AbCdEf?u=${encoded(url)}`,
  EdgePilot: (url) => `https://link.edgepilot.com/s/1a2b3c4d/AbCdEf?u=${encoded(url)}`,
  'Check Point': (url) => `https://protect.checkpoint.com/v2/___${url}___.YXAzOnNhcmFn`,
  Avanan: (url) => `https://url.avanan.click/v2/r01/___${url.replace('//', '/')}___.YXAzOnNhcmFn`,
  Egress: (url) => `https://links.us1.defend.egress.com/Warn?crId=66a&Domain=${new URL(url).hostname}&Lang=en`,
  Inky: (url) => `https://shared.outlook.inky.com/link?domain=${new URL(url).hostname}&t=h.eJx`,
  Trustwave: (url) => `https://scanmail.trustwave.com/?c=20988&d=i-GP5uRI&u=${encoded(url).replaceAll('.', '%2e')}`,
  Hornetsecurity: (url) => `https://atpscan.global.hornetsecurity.com/?d=HzV-&f=rhmY&i=&k=Eb5a&u=${encoded(url)}`,
  Libraesva: (url) => `https://urlsand.esvalabs.com/?u=${encoded(url)}&e=ed7a584b&f=y&p=y`,
  GMX: (url) => `https://deref-gmx.net/mail/client/AbC/dereferrer/?redirectUrl=${encoded(url)}`,
  AMP: (url) => `https://www.google.com/amp/s/${withoutScheme(url)}`,
  'AMP cache': (url) =>
    `https://${new URL(url).hostname.replaceAll('-', '--').replaceAll('.', '-')}.cdn.ampproject.org/c/s/${withoutScheme(url)}`,
  'translated host': (url) =>
    `https://${new URL(url).hostname.replaceAll('-', '--').replaceAll('.', '-')}.translate.goog${new URL(url).pathname}?_x_tr_sl=en&_x_tr_tl=de`,
  'Google Translate': (url) => `https://translate.google.com/translate?sl=auto&tl=de&u=${encoded(url)}`,
  'Bing Translator': (url) => `https://www.translatetheweb.com/?from=en&to=de&a=${encoded(url)}`,
  Wayback: (url) => `https://web.archive.org/web/20240101000000/${url}`,
  'Google cache': (url) => `https://webcache.googleusercontent.com/search?q=cache:AbCd:${encoded(url)}`,
  Facebook: (url) => `https://l.facebook.com/l.php?u=${encoded(url)}&h=AT0`,
  Messenger: (url) => `https://l.messenger.com/l.php?u=${encoded(url)}&h=AT0`,
  Instagram: (url) => `https://l.instagram.com/?u=${encoded(url)}&e=AT0`,
  Threads: (url) => `https://l.threads.com/?u=${encoded(url)}&e=AT0`,
  Reddit: (url) => `https://out.reddit.com/t3_abc?url=${encoded(url)}&token=AQA`,
  LinkedIn: (url) => `https://www.linkedin.com/safety/go?url=${encoded(url)}&trk=flagship`,
  Slack: (url) => `https://slack-redir.net/link?url=${encoded(url)}`,
  Steam: (url) => `https://steamcommunity.com/linkfilter/?u=${encoded(url)}`,
  VK: (url) => `https://vk.com/away.php?to=${encoded(url)}`,
  Telegram: (url) => `https://t.me/iv?url=${encoded(url)}&rhash=abc`,
  WhatsApp: (url) => `https://wa.me/?text=${encoded(`Look: ${url}`)}`,
  Tumblr: (url) => `https://t.umblr.com/redirect?z=${encoded(url)}&t=AbC`,
  Google: (url) => `https://www.google.com/url?sa=t&url=${encoded(url)}&usg=AOv`,
  YouTube: (url) => `https://www.youtube.com/redirect?event=video&q=${encoded(url)}`,
  DuckDuckGo: (url) => `https://duckduckgo.com/l/?uddg=${encoded(url)}&rut=abc`,
  Bing: (url) => `https://www.bing.com/ck/a?!&&p=abc&u=a1${Buffer.from(url).toString('base64url')}&ntb=1`,
  Yahoo: (url) => `https://r.search.yahoo.com/_ylt=Awr/RV=2/RE=17/RO=10/RU=${encoded(url)}/RK=2/RS=abc-`,
  Android: (url) => `intent://${withoutScheme(url)}#Intent;scheme=https;package=com.android.chrome;end`,
  'Android fallback': (url) => `intent://open/app#Intent;scheme=shop;S.browser_fallback_url=${encoded(url)};end`,
  'Amazon SES': (url) => `https://abc.r.eu-west-1.awstrack.me/L0/${encoded(url)}/1/0102-0000/AbC=1`,
  Mandrill: (url) => `https://mandrillapp.com/track/click/3012/${new URL(url).hostname}?p=eyJz`,
  Postmark: (url) => `https://click.pstmrk.it/3s/${encoded(withoutScheme(url))}/AbC/1/def`,
};

/** Links that keep their target to themselves. */
export const HIDDEN = [
  'https://url.emailprotection.link/?b-n5E-p5cAj6bbH7tVdyl',
  'https://protect-de.mimecast.com/s/GhIjKl',
  'https://url.uk.m.mimecastprotect.com/s/AbCd123',
  'https://atpscan.global.hornetsecurity.com/index.php?atp_str=AbCdEf',
  'https://url10.mailanyone.net/scanner?m=1abc&d=4%7Cmail',
  'https://archive.ph/aBcDe',
  'https://clicktime.symantec.com/15siKzAbCdEf',
];
/** Links of click counters that keep their target to themselves. */
export const COUNTERS = [
  'https://u123456.ct.sendgrid.net/ls/click?upn=u001.AbC-2Bd',
  'https://d2v8tf04.eu1.hubspotlinks.com/Ctc/AbC+113/d2v8tf04',
  'https://shop.us1.list-manage.com/track/click?u=1a2b&id=3c4d&e=5e6f',
  'https://cl.s4.exct.net/?qs=1a2b3c4d',
  'https://xk2mj.mjt.lu/lnk/AbC/1/def',
];
