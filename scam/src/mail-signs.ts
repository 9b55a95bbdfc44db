import { takeApart } from './address.ts';
import { ownerOf } from './likeness.ts';
import { imitationOf } from './look-alike.ts';
import { type Message, type MessageText, spanOf } from './message.ts';
import type { Detector, Sign } from './signs.ts';

/** Domains of mailbox providers. Anyone can get an address there, so it does not identify an organisation. */
const FREE_MAIL: ReadonlySet<string> = new Set(
  `
gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com aol.com icloud.com me.com gmx.de gmx.net
gmx.at gmx.ch gmx.com web.de mail.com
mail.ru yandex.ru yandex.com proton.me protonmail.com tutanota.com zoho.com freenet.de t-online.de orange.fr laposte.net free.fr
sfr.fr wanadoo.fr libero.it virgilio.it
tiscali.it alice.it sapo.pt uol.com.br bol.com.br terra.com.br ziggo.nl kpnmail.nl wp.pl onet.pl o2.pl interia.pl hotmail.co.uk
yahoo.co.uk btinternet.com hotmail.fr
hotmail.de hotmail.es hotmail.it yahoo.de yahoo.fr yahoo.es yahoo.it inbox.lv rambler.ru 163.com qq.com
`
    .trim()
    .split(/\s+/u),
);

/** Extensions of attachments that run a program, or that open a web page in place of a document. */
const RISKY_ENDINGS = [
  'exe scr com pif bat cmd js jse vbs vbe wsf hta ps1 jar lnk msi iso img vhd vhdx',
  'htm html xhtml svg one chm cpl reg apk docm xlsm pptm xll',
].flatMap((row) => row.split(' '));
const RISKY = new RegExp(`\\.(?:${RISKY_ENDINGS.join('|')})$`, 'iu');
const DOUBLE = /\.(?:pdf|docx?|xlsx?|jpe?g|png|txt|zip)\s*\.[a-z0-9]{2,5}$/iu;

/** Whether a domain belongs to a public mailbox provider. */
export const isMailboxProvider = (domain: string): boolean => FREE_MAIL.has(domain.toLowerCase());

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
const textOf = (message: Message, source: MessageText['source']) => message.texts.find((text) => text.source === source);

function wholeSpan(text: MessageText | undefined) {
  return text === undefined ? undefined : spanOf(text, { start: 0, end: text.text.length });
}

/** Whether two registrable domains are equal or belong to the same organisation. */
function isSameOrganisation(one: string, other: string, owner: (host: string) => unknown): boolean {
  const [a, b] = [takeApart(`http://${one}`)?.domain, takeApart(`http://${other}`)?.domain];
  return a === b || (owner(one) !== undefined && owner(one) === owner(other));
}

export const MAIL_DETECTORS: readonly Detector[] = [
  {
    id: 'sender_listed',
    find: (message, { isListed }) => {
      const address = message.sender === undefined ? undefined : takeApart(`http://${domainOf(message.sender.address)}`);
      const list = address === undefined ? undefined : isListed(address);
      return list === undefined
        ? []
        : [
            {
              code: 'sender_listed',
              weight: 3,
              params: { domain: address?.host ?? '', list },
              span: wholeSpan(textOf(message, 'sender')),
            },
          ];
    },
  },
  {
    id: 'sender_lookalike',
    find: (message, { brands, isTrusted }) => {
      const domain = message.sender === undefined ? '' : domainOf(message.sender.address);
      const address = domain === '' ? undefined : takeApart(`http://${domain}`);
      if (address === undefined || isTrusted(domain)) return [];
      const imitation = imitationOf(brands, address);
      return imitation === undefined
        ? []
        : [
            {
              code: 'sender_lookalike',
              weight: 2,
              params: { domain, brand: imitation.brand.name, real: imitation.brand.domains[0] ?? '' },
              span: wholeSpan(textOf(message, 'sender')),
            },
          ];
    },
  },
  {
    id: 'sender_name_differs',
    find: (message, { brands, isTrusted, findNames }) => {
      const { sender } = message;
      const text = textOf(message, 'sender');
      if (sender === undefined || text === undefined || sender.name === '') return [];
      const domain = domainOf(sender.address);
      if (isTrusted(domain)) return [];
      // The sender's name contains a mail address of another domain.
      const named = /[\w.+-]+@([\w-]+(?:\.[\w-]+)+)/u.exec(sender.name)?.[1]?.toLowerCase();
      if (named !== undefined && !isSameOrganisation(named, domain, (host) => ownerOf(brands, host)))
        return [
          { code: 'sender_name_differs', weight: 2, params: { name: sender.name, domain, brand: named }, span: wholeSpan(text) },
        ];
      const [first] = findNames(text.readable).filter(({ end }) => end <= sender.name.length);
      if (first === undefined || ownerOf(brands, domain) === first.brand) return [];
      // A longer name may be a shop or a repair service for the brand's products.
      const isWhole = text.readable.words.filter(({ end }) => end <= sender.name.length).length <= 4;
      const weight = FREE_MAIL.has(domain) || isWhole ? 2 : 1;
      return [
        {
          code: 'sender_name_differs',
          weight,
          params: { name: sender.name, domain, brand: first.brand.name },
          span: wholeSpan(text),
        } satisfies Sign,
      ];
    },
  },
  {
    id: 'reply_elsewhere',
    find: (message, { brands, isTrusted }) => {
      const { sender } = message;
      if (sender?.replyTo === undefined) return [];
      const [from, to] = [domainOf(sender.address), domainOf(sender.replyTo)];
      if (isTrusted(to) || isSameOrganisation(from, to, (host) => ownerOf(brands, host))) return [];
      const weight = FREE_MAIL.has(to) && !FREE_MAIL.has(from) ? 2 : 1;
      return [
        { code: 'reply_elsewhere', weight, params: { from, to }, span: wholeSpan(textOf(message, 'reply_to')) } satisfies Sign,
      ];
    },
  },
  {
    id: 'signature_failed',
    find: (message) =>
      message.sender?.proof === 'failed'
        ? [
            {
              code: 'signature_failed',
              weight: 1,
              params: { domain: domainOf(message.sender.address) },
              span: wholeSpan(textOf(message, 'sender')),
            },
          ]
        : [],
  },
  {
    id: 'infected_attachment',
    find: (message) =>
      message.attachments
        .filter(({ verdict }) => verdict === 'infected')
        .map(({ name }) => ({ code: 'infected_attachment', weight: 3, params: { name }, span: undefined })),
  },
  {
    id: 'risky_attachment',
    find: (message) =>
      message.attachments
        .filter(({ name }) => RISKY.test(name) || DOUBLE.test(name))
        .map(({ name }, index) => ({
          code: 'risky_attachment',
          weight: 2,
          params: { name },
          span: { source: 'attachment', index, start: 0, end: name.length, text: name.slice(0, 300) },
        })),
  },
];
