import type { ScamReasonCode } from '@palisade/contract/scam-check';

type Params = Readonly<Record<string, string>>;
type Sentence = (params: Params) => string;

const kindOfHidden: Readonly<Record<string, string>> = {
  mixed_alphabets: 'Some words mix letters of different alphabets.',
  no_ink: 'Some words contain invisible characters.',
  reversed: 'Part of the text is written backwards by a hidden character.',
};

const account = (params: Params) =>
  params['payee'] ? `to ${params['payee']}` : params['iban'] ? `to the account ${params['iban']}` : '';

/** Sentences by reason code. Pages in other languages make their own from the code and the params. */
export const REASON_SENTENCES: Readonly<Record<ScamReasonCode, Sentence>> = {
  listed_domain: ({ host, list }) => `${host} is on the list of dangerous addresses “${list}”.`,
  lookalike_domain: ({ host, brand, domain }) => `${host} imitates ${brand}. The real address is ${domain}.`,
  brand_in_address: ({ host, brand, domain }) =>
    `${host} uses the name ${brand}, but doesn’t belong to it. The real address is ${domain}.`,
  mixed_letters: ({ host }) => `${host} mixes letters of different alphabets that look alike.`,
  user_before_at: ({ shown, host }) => `The link begins with “${shown}”, but leads to ${host}.`,
  number_address: ({ host }) => `The link leads to a bare number (${host}) in place of a name.`,
  shortened_link: ({ host }) => `${host} hides where the link leads.`,
  hidden_target: ({ host }) => `The link goes through ${host}, so we can’t see where it leads.`,
  open_redirect: ({ host, target }) => `The link shows ${host}, but sends you on to ${target}.`,
  code_in_link: ({ scheme }) => `The link contains a program or a page (${scheme}) in place of an address.`,
  disguised_link: ({ host }) => `The link to ${host} is written so that filters don’t see it.`,
  link_text_differs: ({ shown, host }) => `The email shows ${shown}, but the link leads to ${host}.`,
  throwaway_ending: ({ host, ending }) => `${host} ends in .${ending}, which scammers use a lot.`,
  free_hosting: ({ host }) => `Anyone can publish a page at ${host} for free.`,
  program_link: ({ host, ending }) => `The link to ${host} downloads a program (.${ending}).`,
  intent_bank: () => 'It says that an account or a payment needs your action, and gives its own link or number.',
  intent_parcel: () => 'It asks for money or details for a delivery through its own link.',
  intent_family: () => 'It claims to be a relative with a new number or in trouble, and wants an answer or money.',
  intent_boss: () => 'It claims to be a boss and asks for gift cards or a quick, quiet payment.',
  intent_tech: () => 'It claims that your device or a subscription has a problem, and wants a call or access.',
  intent_refund: () => 'It promises a refund, or wants one back, to get your details or money.',
  intent_fine: () => 'It threatens with a fine or a debt and wants payment now.',
  intent_job: () => 'It offers easy money for simple work, or wants a payment before you start.',
  intent_romance: () => 'It builds trust to ask for money, or promises sure profits.',
  intent_rental: () => 'It wants a deposit for a home that you can’t visit first.',
  intent_qr: () => 'It wants payment through a QR code or to a changed bank account.',
  intent_code: () => 'It wants you to pass on a security code. Such codes are for you alone.',
  intent_extortion: () => 'It threatens to publish something about you unless you pay. Such claims are almost always made up.',
  intent_prize: () => 'It says that you won something that you must claim or pay for.',
  intent_paid_number: () => 'It advertises a number or a service that costs you money.',
  pressure: () => 'It puts you under time pressure or threatens with consequences.',
  secrecy: () => 'It asks you to keep it secret.',
  channel_change: () => 'It wants you to continue in another app or under another number.',
  unusual_payment: () => 'It asks for a payment that can’t be taken back, such as gift cards, crypto or cash.',
  asks_for_secret: () => 'It asks for a password, a PIN, card or bank details.',
  asks_for_money: () => 'It asks for money.',
  hidden_letters: ({ kind }) => kindOfHidden[kind ?? ''] ?? 'Some letters are hidden.',
  sender_name_differs: ({ brand, domain }) => `The sender’s name says ${brand}, but the address belongs to ${domain}.`,
  sender_lookalike: ({ domain, brand, real }) => `The sender’s address ${domain} imitates ${brand}. The real one is ${real}.`,
  sender_listed: ({ domain, list }) => `The sender’s domain ${domain} is on the list of dangerous addresses “${list}”.`,
  reply_elsewhere: ({ from, to }) => `It comes from ${from}, but your answer would go to ${to}.`,
  signature_failed: ({ domain }) => `The signature of ${domain} doesn’t fit this email: it was changed or isn’t from there.`,
  risky_attachment: ({ name }) => `The attachment “${name}” can run a program or imitate a sign-in page.`,
  infected_attachment: ({ name }) => `The attachment “${name}” is infected.`,
  code_payment: (params) => `The code in the picture starts a payment ${account(params)}.`.replace(' .', '.'),
  premium_number: ({ number }) => `Calls or messages to ${number} cost extra.`,
  foreign_number: ({ number, country }) =>
    `${number} is a number of ${country}, which doesn’t fit the organization that is named.`,
  account_country: ({ account: iban, country }) =>
    `The account ${iban} is in ${country}, which doesn’t fit the organization that is named.`,
  account_wrong: ({ account: iban }) => `The account number ${iban} is wrong: its check digits don’t fit.`,
};

export const HEADLINES = {
  dangerous: 'This is very likely a scam.',
  suspicious: 'Be careful: this shows signs of a scam.',
  nothing_found: 'Nothing suspicious found.',
  not_checked: 'We couldn’t check this.',
  /** Variant of `not_checked`: some parts were read, and nothing was found in them. */
  partly_checked: 'We couldn’t check all of this. Nothing suspicious found in the rest.',
} as const;

/** Sentences about unread parts of the input: truncated, encrypted or failed. A result with one of them never has the verdict "nothing found". */
export const UNREAD_SENTENCES = {
  language_unknown: 'We don’t know the language of this text.',
  text_cut: 'The text is longer than we read. We didn’t check the rest.',
  encrypted: 'The message is encrypted, so we couldn’t read it. Open it, and check the text.',
  more_links: 'There are more links than we take apart. We didn’t check the rest.',
  link_cut: 'A link is longer than we read. We didn’t check its end.',
  sender_cut: 'The sender’s name is longer than we read. We didn’t check its end.',
  dns_failed: 'The DNS didn’t answer, so we couldn’t verify the signature.',
  more_signatures: 'There are more signatures than we verify, and none of the first ones holds.',
  more_attachments: 'There are more attachments than we read. We didn’t check the rest.',
  more_mails: 'There are more emails within each other than we read. Check the inner one alone.',
  attachment_locked: 'The scanner couldn’t read an attachment whole.',
  attachment_unread: 'We can’t read what an attachment says.',
  tnef: 'We can’t read the Outlook file winmail.dat. Ask for the files in another form.',
  more_pictures: 'There are more pictures than we read. Check the others alone.',
  more_codes: 'There are more codes in a picture than we read.',
  too_large: 'The picture is too large to read.',
  file_too_large: 'The file is too large to check.',
  picture_format: 'We can’t read this picture format.',
  heic: 'We can’t read HEIC pictures. Send a screenshot, or save it as JPEG.',
  picture_broken: 'The picture is damaged.',
  took_too_long: 'Reading took too long, so we stopped.',
  document_pictures: 'We don’t read pictures in documents. Send a screenshot of the page to check its codes.',
  no_document_reader: 'We can’t read this kind of document here.',
  format_unknown: 'We don’t know this kind of file.',
  empty: 'There’s nothing to check.',
  broken_email: 'We couldn’t read this email.',
} as const;

/** Sentences about checks that were not requested, need a permission, or are not set up by the operator. They do not exclude any verdict. */
export const UNASKED_SENTENCES = {
  never_visited: 'We never open links: the sender would learn of it.',
  no_lists: 'No public lists of dangerous addresses are installed.',
  no_dns: 'We didn’t verify the signature: that asks the DNS, and needs your permission.',
  unsigned: 'The email has no signature, so its sender is unproven.',
  pasted: 'Pasted emails lose their signature. Check the original file to verify the sender.',
  no_engine: 'No scanner looked at the attachments.',
  remote_pictures: 'We don’t load pictures from other servers: the sender would learn of it.',
  no_text_reader: 'Reading text in pictures isn’t installed. Paste the text to check it.',
  text_language: 'The text in the picture was read in some languages only.',
} as const;

/** Sentences about the state of each part: checked, or the reason why not. */
export const CHECKED_SENTENCES = {
  checked: {
    words: 'We read the words in eight languages.',
    links: 'We took each link apart.',
    domain_lists: 'We looked up the links in the lists of dangerous addresses.',
    link_target: '',
    sender: 'We compared the sender’s name with the address.',
    signature: 'We verified the signature of the sender’s domain.',
    attachments: 'We scanned the attachments.',
    codes: 'We read QR codes and bar codes.',
    picture_text: 'We read the text in the picture.',
    numbers: 'We looked at the phone numbers.',
    accounts: 'We checked the account numbers.',
  },
  absent: {
    words: 'There’s no text.',
    links: 'There’s no link.',
    domain_lists: 'There’s no link to look up.',
    link_target: 'There’s no link.',
    sender: 'There’s no sender.',
    signature: 'There’s no email.',
    attachments: 'There’s no attachment.',
    codes: 'There’s no picture.',
    picture_text: 'There’s no picture.',
    numbers: 'There’s no phone number.',
    accounts: 'There’s no account number.',
  },
  not_checked: { ...UNREAD_SENTENCES, ...UNASKED_SENTENCES },
} as const;
export type NotCheckedCode = keyof typeof CHECKED_SENTENCES.not_checked;
