import type { ChatTopic } from '@palisade/contract/chat';
import type { Sentence } from '#platform/sentence.ts';
import { sentence } from './chat.phrases.ts';

interface ReplyRule {
  /** The topic of the message. */
  about: RegExp;
  reply: Sentence;
  /** The reply to a person with an open infection, where it differs. */
  reply_infected?: Sentence;
  /** The help page that says more. */
  article: string;
}

interface ScamRule {
  /** Words that must all occur, in any order. Each is searched separately. */
  all: readonly RegExp[];
  reply: Sentence;
  article: string;
}

/** Words for an unknown caller or sender. */
const SOMEBODY =
  /\b(?:phone|call(?:s|ed|er|ing)?|rang|rings|voice|man|woman|lady|guy|someone|somebody|he|she|they|sms|whatsapp|technician)\b/u;
/** Requests that only scammers make. */
const LOOT =
  /\b(?:card (?:number|details)|credit card|debit card|cvv|pin|tan|password|codes?|gift ?cards?|vouchers?|bitcoin|crypto|wire|transfer|bank (?:account|details|login)|online banking|anydesk|team ?viewer|quick ?assist|remote control)\b/u;
const ASKING = /\b(?:wants?|wanted|asks?|asked|asking|needs|says|said|told|tells|demands?|claims?|gave|given|installed|paid)\b/u;

/** Messages of a person who is being scammed. Matched first, because they are urgent. */
const SCAM_RULES: readonly ScamRule[] = [
  {
    all: [/\b(?:encrypted|locked|ransom(?:ware)?)\b/u, /\b(?:pay|paid|money|bitcoin|ransom(?:ware)?)\b/u],
    reply: sentence('reply.ransom'),
    article: 'ransom-note',
  },
  {
    all: [
      /\b(?:pop-?up|window|page|screen|warning)\b/u,
      /\b(?:virus(?:es)?|infected|locked|hacked)\b/u,
      /\b(?:call|ring|number)\b/u,
    ],
    reply: sentence('reply.virus_warning'),
    article: 'warning-with-a-number',
  },
  {
    all: [
      /\b(?:pop-?up|window|page|screen|warning|message)\b/u,
      /\b(?:says?|said|tells?|told|wants?|asks?)\b/u,
      /\b(?:call|ring|dial)\b/u,
      /\bnumber\b/u,
    ],
    reply: sentence('reply.number_to_call'),
    article: 'warning-with-a-number',
  },
  {
    all: [SOMEBODY, LOOT, ASKING],
    reply: sentence('reply.asked_for_secrets'),
    article: 'somebody-called-me',
  },
  {
    all: [
      /\bcallers?\b|\b(?:called|phoned|rang) (?:me|us)\b|\bon the phone\b|\bstrangers?\b/u,
      /\b(?:told|asked|said|made|had|got|wanted|helped)\b/u,
      /\b(?:install(?:ed|ing)?|download(?:ed|ing)?|let (?:him|her|them) (?:in|on))\b/u,
    ],
    reply: sentence('reply.asked_for_secrets'),
    article: 'somebody-called-me',
  },
  {
    all: [/\b(?:microsoft|windows|apple|amazon|police|bank)\b/u, /\b(?:called|calls|calling|on the phone|rang)\b/u],
    reply: sentence('reply.false_caller'),
    article: 'somebody-called-me',
  },
  {
    all: [/\b(?:scam(?:s|med|mer|mers)?|fraud|con ?man|tricked|ripped off|fake (?:support|microsoft|police|bank))\b/u],
    reply: sentence('reply.scam'),
    article: 'somebody-called-me',
  },
  {
    all: [
      /\bphishing\b|\b(?:strange|suspicious|odd|weird|fake) (?:e-?mail|mail|link|text|sms|message)\b|\bclicked (?:on )?(?:a|the|this) link\b/u,
    ],
    reply: sentence('reply.phishing'),
    article: 'strange-mail-or-link',
  },
];

/** The specification's rules in its order: the first whose keyword occurs in the message, ignoring case, gives the reply. */
const REPLY_RULES: readonly ReplyRule[] = [
  {
    about: /virus|malware/u,
    reply: sentence('reply.virus'),
    reply_infected: sentence('reply.infected'),
    article: 'a-file-is-infected',
  },
  {
    about: /firewall|network/u,
    reply: sentence('reply.firewall'),
    article: 'firewall-rules',
  },
  {
    about: /slow|performance/u,
    reply: sentence('reply.slow'),
    article: 'slow-computer',
  },
  {
    about: /billing|payment/u,
    reply: sentence('reply.billing'),
    article: 'plan-and-payment',
  },
  {
    about: /remote|access/u,
    reply: sentence('reply.remote'),
    article: 'remote-support-safely',
  },
];

/** Messages of a person who has an infected file, was charged wrongly, cannot sign in, or asks for the meaning of a product term; matched if no keyword of the specification occurs. */
const QUESTION_RULES: readonly ReplyRule[] = [
  {
    about: /\b(?:infected|infections?|trojans?|spyware|ransomware|threats?)\b/u,
    reply: sentence('reply.none_infected'),
    reply_infected: sentence('reply.infected'),
    article: 'a-file-is-infected',
  },
  {
    about:
      /\b(?:(?:over)?charged|double charges?|charges? (?:on|to|from)|billed|debited|refund(?:ed|s)?|invoices?|receipts?|money back|(?:paid|pay) (?:twice|double|two times))\b/u,
    reply: sentence('reply.billing'),
    article: 'plan-and-payment',
  },
  {
    about: /\b(?:cannot|can't|cant|can not|unable to) (?:sign|log) ?in\b|\bforgot(?:ten)? my (?:password|username)\b/u,
    reply: sentence('reply.sign_in'),
    article: 'i-cannot-sign-in',
  },
  {
    about: /\bpending\b/u,
    reply: sentence('reply.pending'),
    article: 'what-pending-means',
  },
];

/** The keyword of each topic: a message of the topic with no other keyword gets the same reply. */
const TOPIC_KEYWORDS: Record<ChatTopic, string> = { performance: 'performance', firewall: 'firewall', remote: 'remote' };

/** Maximum number of characters that are searched: a scam is described in a few sentences, and the search stays fast. */
const SEARCHED = 2_000;

/** The immediate answer, and the help page with more; `article` is null where none fits. */
export interface AutomaticAnswer {
  reply: Sentence;
  /** The reply to a person with an open infection, where it differs. Harmless test files are no infection. */
  reply_infected: Sentence | undefined;
  article: string | null;
}

/**
 * The answer that is added to the chat at once and marked as automatic, unless staff have the conversation open. Urgent rules first, then the keywords of the specification,
 * then the topic.
 */
export function automaticAnswer(message: string, topic?: ChatTopic): AutomaticAnswer {
  const text = message.toLowerCase();
  const start = text.slice(0, SEARCHED).replace(/\s+/gu, ' ');
  const scam = SCAM_RULES.find(({ all }) => all.every((sign) => sign.test(start)));
  const rule = scam ?? REPLY_RULES.find(({ about }) => about.test(text)) ?? QUESTION_RULES.find(({ about }) => about.test(start));
  if (rule === undefined && topic !== undefined) return automaticAnswer(TOPIC_KEYWORDS[topic]);
  if (rule === undefined) return { reply: sentence('reply.received'), reply_infected: undefined, article: null };
  return { reply: rule.reply, reply_infected: 'reply_infected' in rule ? rule.reply_infected : undefined, article: rule.article };
}
