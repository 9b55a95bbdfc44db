import { SCAM_REASON_CODES, type ScamReasonCode, scamAnswerSchema } from '@palisade/contract/scam-check';
import { afterAll, describe, expect, test } from 'vitest';
import { DETECTORS } from './detectors.ts';
import { ScamCheck } from './scam-check.ts';

/**
 * Per code: inputs that must show it, and neighbours that must not. A text is checked as a text, `mail:` as an email file whose
 * fields are given.
 */
interface Samples {
  fires: readonly string[];
  stays: readonly string[];
}

const mail = (fields: string, body = 'Hello') => `mail:${fields}\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n\r\n${body}`;
const html = (body: string) =>
  `mail:From: Shop <news@shop.example>\r\nSubject: Hi\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${body}`;
const attached = (name: string) =>
  `mail:From: Ada <ada@example.org>\r\nSubject: Hi\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nHi\r\n--x\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\nabc\r\n--x--\r\n`;

const SAMPLES: Readonly<Record<ScamReasonCode, Samples>> = {
  listed_domain: {
    fires: ['https://listed.example.net/a', 'see sub.listed.example.net now'],
    stays: ['https://example.net/', 'https://notlisted.example.net.org/'],
  },
  lookalike_domain: {
    fires: [
      'https://paypa1.com/',
      'https://paypall.com',
      'https://rnicrosoft.com',
      'https://аmazon.com',
      'https://netfilx.com/',
      'go to pay-pal.com',
      'write to help@paypa1.com',
    ],
    stays: [
      'https://paypal.com/',
      'https://www.amazon.de/gp',
      'https://cloud.com',
      'https://online.com',
      'https://klara.com',
      'https://orange.nl',
    ],
  },
  brand_in_address: {
    fires: [
      'https://paypal.com.verify-now.net/',
      'https://dhl-zoll.info',
      'https://secureamazon.com',
      'https://example.info/paypal/login',
      'https://paypal.secure-login.com/',
    ],
    stays: [
      'https://help.paypal.com/',
      'https://techtarget.com',
      'https://en.wikipedia.org/wiki/PayPal',
      'https://github.com/paypal/sdk',
      'https://company.zendesk.com/amazon',
    ],
  },
  mixed_letters: {
    fires: ['https://pаypal.com', 'https://gооgle-mаil.net'],
    stays: ['https://müller.de', 'https://почта.рф', 'https://日本語.jp', 'https://straße.de'],
  },
  user_before_at: {
    fires: ['https://paypal.com@evil-host.net/login', 'http://www.bank.example:pw@192.0.2.7/'],
    stays: ['https://example.org/@ada', 'ada@example.org', 'mailto:ada@example.org'],
  },
  number_address: {
    fires: ['http://203.0.113.9/login', 'http://3405803785/', 'http://0xcb007109/', 'http://[2001:db8::9]/login'],
    stays: ['version 1.2.3.4 is out', 'https://203.example.org/', 'the camera is at 203.0.113.9'],
  },
  shortened_link: {
    fires: ['https://bit.ly/3abc', 'tinyurl.com/xyz'],
    stays: ['https://bit.example/3abc', 'https://orbit.ly.example.org'],
  },
  open_redirect: {
    fires: ['https://www.google.com/url?q=https://evil-host.net/a', 'https://news.example/out?to=https%3A%2F%2Fevil-host.net%2F'],
    stays: ['https://www.google.com/search?q=weather', 'https://www.google.com/url?q=https://www.youtube.com/watch'],
  },
  hidden_target: {
    fires: ['https://url.emailprotection.link/?bAbC', 'https://protect-eu.mimecast.com/s/AbCdE', 'https://archive.ph/aBcDe'],
    stays: ['https://www.mimecast.com/products/', 'https://protect-eu.mimecast.com/s/AbC?domain=example.org'],
  },
  code_in_link: {
    fires: ['javascript:alert(1)', 'data:text/html,<script>x</script>'],
    stays: ['data: see below', 'JavaScript: the good parts'],
  },
  disguised_link: {
    fires: [
      'hxxps://evil-host.net/a',
      'evil-host[.]net',
      'evil-host (dot) net',
      'evil-host dot com',
      'https://evil\u200b-host.net/',
      'ｅvil-host.net',
      'https://evil-host\n.net/a',
    ],
    stays: [
      'https://evil-host.net/a',
      'The dot com years',
      'a [.] b',
      'hxxp is how analysts write it',
      'https://example.org/\nKind regards',
    ],
  },
  link_text_differs: {
    fires: [html('<a href="https://evil-host.net/x">https://www.paypal.com/login</a>')],
    stays: [
      html('<a href="https://click.shop.example/x">www.shop.example</a>'),
      html('<a href="https://www.paypal.com/x">paypal.com</a>'),
      html('<a href="https://evil-host.net/x">Read more</a>'),
    ],
  },
  throwaway_ending: {
    fires: ['https://parcel-info.xyz/a', 'abc.top/x'],
    stays: ['https://example.com/xyz', 'https://www.example.de'],
  },
  free_hosting: {
    fires: ['https://mybank.weebly.com/', 'https://secure.github.io'],
    stays: ['https://weebly-fans.example.org', 'https://github.com/a'],
  },
  program_link: {
    fires: ['https://example.net/setup.exe', 'https://example.net/bank.apk?x=1'],
    stays: ['https://example.net/exe', 'https://www.microsoft.com/setup.exe', 'https://example.net/a.pdf'],
  },
  intent_bank: {
    fires: ['Your account was locked. Verify your details at my-bank-check.info'],
    stays: ['Your account statement is ready in the app.', 'My card got declined, I will call the bank.'],
  },
  intent_parcel: {
    fires: ['Your parcel is on hold, pay the customs fee here: parcels-pay.net'],
    stays: ['Your parcel arrives today: https://www.dhl.de/track', 'The parcel is with the neighbour.'],
  },
  intent_family: {
    fires: ['Hi mum, my phone is broken, this is my new number, text me on WhatsApp'],
    stays: ['Hi mum, I am home at nine', 'Mum, can you lend me your drill?'],
  },
  intent_boss: {
    fires: ['I am in a meeting. Buy gift cards and send me pictures of the codes, keep this between us'],
    stays: ['We give Julia a gift card, please put 5 dollars in the envelope'],
  },
  intent_tech: {
    fires: ['Your PC has a virus! Call Microsoft support now +1 888 555 0134'],
    stays: ['I think my laptop has a virus, could you look on Sunday?'],
  },
  intent_refund: {
    fires: ['You are eligible for a tax refund. Enter your card details at refund-claims.info'],
    stays: ['Your refund of £18 will reach your card within 5 days.'],
  },
  intent_fine: {
    fires: ['Unpaid toll fine. Pay today to avoid court action: toll-pay.info'],
    stays: ['I got a fine again, 35 quid, so annoyed'],
  },
  intent_job: {
    fires: ['Part time job from home, earn 300 euros per day, message our manager on Telegram'],
    stays: ['We invite you to an interview on Tuesday at 10.'],
  },
  intent_romance: {
    fires: [
      'My darling, I am stuck at customs, could you lend me 900 dollars by Western Union?',
      'Bitcoin trading with guaranteed profit, double your money',
    ],
    stays: ['I love you, see you at the airport'],
  },
  intent_rental: {
    fires: ['I am abroad, so send the deposit for the flat and I post you the keys'],
    stays: ['The landlord needs the deposit by Friday, we sign at the flat at 6.'],
  },
  intent_qr: {
    fires: [
      'Scan the QR code to pay for parking: http://pay-parking.site',
      'Our bank details have changed, pay the invoice to the new account',
    ],
    stays: ['Scan the QR code on the table for the menu.'],
  },
  intent_code: {
    fires: ['I sent you a 6 digit code by mistake, can you forward it to me?'],
    stays: ['Your code is 482913. Never share this code.', 'Please send me the code of the door'],
  },
  intent_extortion: {
    fires: ['I recorded you by webcam. Pay in bitcoin or I send the video to all your contacts'],
    stays: ['I forgot my password, and the webcam is broken'],
  },
  intent_prize: {
    fires: [
      'Congratulations, you won a £500 gift card! Claim it: prize-tesco.club',
      'Today is your lucky day! Find out why at http://www.urawinner.com',
    ],
    stays: ['Congratulations on your new baby!', 'Your lucky day: I found your keys. See www.example.com'],
  },
  intent_paid_number: {
    fires: [
      'WINNER! Call 09061701461 to claim. 150p per min',
      'Text WIN to 87121, cost 150p per msg',
      'Hot girls live: txt me on 69888, 150p per msg',
      '1000s flirting now! Txt GIRL and your age to 8007 to join',
      'Txt me your fantasy now babe. All replies cost £1.50. 2 cancel send STOP',
    ],
    stays: [
      'Text me when you are home',
      'We met in 2007, text me',
      'Call the office at 020 7946 0000',
      'Hello darlin ive finished college now so txt me when u finish if u can love Kate xxx',
      'Book which lesson? then you msg me... I will call up after work or sth... I am going to get specs. My membership is PX3748',
    ],
  },
  pressure: { fires: ['Do it within 24 hours', 'Act immediately'], stays: ['No rush', 'See you next week'] },
  secrecy: { fires: ['Keep this between us', 'Don’t tell anyone: do not tell mum'], stays: ['Tell everyone!'] },
  channel_change: { fires: ['Message me on WhatsApp', 'Add me on Telegram'], stays: ['I like WhatsApp more than mail'] },
  unusual_payment: {
    fires: ['Pay with gift cards', 'Transfer it in bitcoin'],
    stays: ['I pay by card', 'My uncle had some bitcoin'],
  },
  asks_for_secret: {
    fires: ['Confirm your card number', 'Verify your PIN at a.example.net'],
    stays: ['I forgot my password again'],
  },
  asks_for_money: { fires: ['Pay 20 euros today', 'Send the money: £500'], stays: ['That was 20 euros'] },
  hidden_letters: {
    fires: ['Your аccount wаs blоcked', 'ver\u200bify', 'abc \u202egpj'],
    stays: ['Привет, мама', 'family 👨\u200d👩\u200d👧', 'naïve café'],
  },
  sender_name_differs: {
    fires: [mail('From: "PayPal" <x@evil-host.net>'), mail('From: "service@paypal.com" <x@gmail.com>')],
    stays: [
      mail('From: PayPal <service@paypal.com>'),
      mail('From: Ada Lovelace <ada@example.org>'),
      mail('From: "service@paypal.com" <service@mail.paypal.com>'),
    ],
  },
  sender_lookalike: {
    fires: [mail('From: Team <x@paypa1.com>')],
    stays: [mail('From: Team <x@paypal.com>'), mail('From: Team <x@example.org>')],
  },
  sender_listed: { fires: [mail('From: A <a@listed.example.net>')], stays: [mail('From: A <a@example.net>')] },
  reply_elsewhere: {
    fires: [mail('From: Boss <boss@firm.example>\r\nReply-To: boss.firm@gmail.com')],
    stays: [
      mail('From: A <a@firm.example>\r\nReply-To: desk@firm.example'),
      mail('From: A <a@paypal.com>\r\nReply-To: b@paypal.me'),
      mail('From: A <a@firm.example>'),
    ],
  },
  signature_failed: { fires: [], stays: [mail('From: A <a@firm.example>')] },
  risky_attachment: {
    fires: [attached('invoice.pdf.exe'), attached('page.html')],
    stays: [attached('invoice.pdf'), attached('photo.jpg')],
  },
  infected_attachment: { fires: [attached('virus.doc')], stays: [attached('letter.doc')] },
  code_payment: { fires: [], stays: ['BCD is a format'] },
  premium_number: { fires: ['Call 09061701461', 'call +49 900 1234567'], stays: ['Call 020 7946 0000'] },
  foreign_number: { fires: ['Postbank: please call us at +234 803 123 4567'], stays: ['Postbank: please call 0228 5500 5500'] },
  account_country: {
    fires: ['Sparkasse: pay to LT121000011101001000'],
    stays: ['Sparkasse: pay to DE89370400440532013000', 'Pay to LT121000011101001000'],
  },
  account_wrong: { fires: ['IBAN DE89370400440532013001'], stays: ['IBAN DE89 3704 0044 0532 0130 00', 'order DE12 345'] },
};

/** Codes whose samples need more than a text: another test has them. */
const ELSEWHERE = new Set<ScamReasonCode>(['signature_failed', 'code_payment']);

const check = new ScamCheck({
  lists: [{ name: 'Test list', has: (entry) => entry === 'listed.example.net' }],
  scanAttachment: (name) => Promise.resolve(name === 'virus.doc' ? 'infected' : 'clean'),
  country: 'GB',
});
afterAll(() => check.close());

const answerTo = (input: string) =>
  input.startsWith('mail:') ? check.checkFile('letter.eml', new TextEncoder().encode(input.slice(5))) : check.checkText(input);
/** All codes, also those beyond the five that an answer shows, would need the inside: samples are short, so five suffice. */
const codesOf = async (input: string) => (await answerTo(input)).reasons.map(({ code }) => code);

describe('each reason', () => {
  for (const code of SCAM_REASON_CODES) {
    const { fires, stays } = SAMPLES[code];
    test.each(fires)(`${code} is shown by %j`, async (input) => expect(await codesOf(input)).toContain(code));
    test.each(stays)(`${code} is not shown by %j`, async (input) => expect(await codesOf(input)).not.toContain(code));
    test(`${code} has samples`, () => {
      expect(fires.length > 0 || ELSEWHERE.has(code)).toBe(true);
      expect(stays.length).toBeGreaterThan(0);
    });
  }
});

test('no two detectors have one name', () => {
  const ids = DETECTORS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('each answer is of the shape of the contract, and each span is what stands there', async () => {
  for (const { fires } of Object.values(SAMPLES))
    for (const input of fires) {
      const answer = await answerTo(input);
      scamAnswerSchema.parse(answer);
      for (const { span, sentence } of answer.reasons) {
        expect(sentence).not.toMatch(/undefined/u);
        if (span?.source === 'text' && !input.startsWith('mail:')) expect(input.slice(span.start, span.end)).toBe(span.text);
      }
    }
});
