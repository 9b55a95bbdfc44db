import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ANSWER_ABOVE, withoutNotice } from './quoted.ts';

const NOTICE = [ANSWER_ABOVE, '', 'Hello Maria,', '', 'Ana replied to you in the support chat.'];
const MARKED = NOTICE.map((line) => `> ${line}`.trim()).join('\n');
const PLAIN = NOTICE.join('\n');

/** Introductions as mail programs write them. `N`: the name of the sender, `A`: its address. */
const INTRODUCTIONS = [
  'Am So., 22. Nov. 2026 um 10:00 Uhr schrieb N <A>:',
  'N <A> schrieb am So., 22. Nov. 2026, 10:00:',
  'Le dim. 22 nov. 2026 à 10:00, N <A> a écrit :',
  'Le 22/11/2026 à 10:00, N a écrit\u00a0:',
  'El dom, 22 nov 2026 a las 10:00, N (<A>) escribió:',
  'Il giorno dom 22 nov 2026 alle ore 10:00 N <A> ha scritto:',
  'Em dom., 22 de nov. de 2026 às 10:00, N <A> escreveu:',
  'Op zo 22 nov 2026 om 10:00 schreef N <A>:',
  'Op 22 nov. 2026, om 10:00 heeft N <A> het volgende geschreven:',
  'niedz., 22 lis 2026 o 10:00 N <A> napisał(a):',
  'W dniu 22.11.2026 o 10:00, N pisze:',
  'Den sön 22 nov. 2026 kl 10:00 skrev N <A>:',
  'søn. 22. nov. 2026 kl. 10:00 skrev N <A>:',
  'Den søn. 22. nov. 2026 kl. 10.00 skrev N <A>:',
  'su 22. marrask. 2026 klo 10.00 N (A) kirjoitti:',
  'ne 22. 11. 2026 v 10:00 odesílatel N <A> napsal:',
  'ne 22. 11. 2026 o 10:00 N <A> napísal(a):',
  'N <A> ezt írta (időpont: 2026. nov. 22., V, 10:00):',
  'dum., 22 nov. 2026 la 10:00, N <A> a scris:',
  'N <A>, 22 Kas 2026 Paz, 10:00 tarihinde şunu yazdı:',
  'Στις Κυρ, 22 Νοε 2026 στις 10:00 π.μ., ο χρήστης N <A> έγραψε:',
  'вс, 22 нояб. 2026 г. в 10:00, N <A>:',
  'Воскресенье, 22 ноября 2026, 10:00 +03:00 от N <A>:',
  'нд, 22 лист. 2026 р. о 10:00 N <A> пише:',
  '2026年11月22日(日) 10:00 N <A>:',
  '2026/11/22 10:00、N <A>のメール:',
  'N <A> 于2026年11月22日周日 10:00写道：',
  '在 2026年11月22日，10:00，N <A> 写道：',
  'N <A> 於 2026年11月22日 週日 上午10:00寫道：',
  '2026년 11월 22일 (일) 오전 10:00, N <A>님이 작성:',
  'في الأحد، ٢٢ نوفمبر ٢٠٢٦ في ١٠:٠٠ ص تمت كتابة ما يلي بواسطة N <A>:',
  '\u202bבתאריך יום א׳, 22 בנוב׳ 2026 ב-10:00 מאת \u202aN\u202c\u200f <\u202aA\u202c\u200f>:\u202c',
  'रवि, 22 नव॰ 2026 को 10:00 पूर्वाह्न को N <A> ने लिखा:',
  'ในวันที่ อา. 22 พ.ย. 2026 เวลา 10:00 N <A> เขียนว่า:',
  'Vào CN, 22 thg 11, 2026 vào lúc 10:00 N <A> đã viết:',
];

const HEADERS = [
  ['Von: N <A>', 'Gesendet: Sonntag, 22. November 2026 10:00', 'An: Maria', 'Betreff: Antwort'],
  ['De : N <A>', 'Envoyé : dimanche 22 novembre 2026 10:00', 'À : Maria', 'Objet : Réponse'],
  ['Od: N <A>', 'Wysłane: niedziela, 22 listopada 2026 10:00', 'Do: Maria', 'Temat: Odpowiedź'],
  ['Od: N <A>', 'Odesláno: neděle 22. listopadu 2026 10:00', 'Komu: Maria', 'Předmět: Odpověď'],
  ['От: N <A>', 'Отправлено: 22 ноября 2026 г. 10:00', 'Кому: Maria', 'Тема: Ответ'],
  ['差出人: N <A>', '送信日時: 2026年11月22日 10:00', '宛先: Maria', '件名: 返信'],
  ['发件人：N <A>', '发送时间：2026年11月22日 10:00', '收件人：Maria', '主题：回复'],
  ['보낸 사람: N <A>', '보낸 날짜: 2026년 11월 22일 일요일 10:00', '받는 사람: Maria', '제목: 답변'],
  ['Lähettäjä: N <A>', 'Lähetetty: 22. marraskuuta 2026', 'Vastaanottaja: Maria', 'Aihe: Vastaus'],
  ['Gönderen: N <A>', 'Tarih: 22 Kasım 2026 Pazar', 'Kime: Maria', 'Konu: Yanıt'],
];

const RULES = [
  '-----Ursprüngliche Nachricht-----',
  '-------- Původní zpráva --------',
  '------------------ 原始邮件 ------------------',
];

const filled = (text: string) =>
  text.replace('N', 'Palisade').replace('A>', 'help@example.com>').replace('(A)', '(help@example.com)');

/** The customer's own words, with punctuation and numbers as people write them. */
const WORDS = [
  'It works.',
  'It costs 20 euros.',
  'Es geht mit Version 3.1 nicht!',
  'Thanks',
  'Write to me@example.org',
  'Step 1: start\nStep 2: stop',
  'Grüße\nMaria',
  '问题解决了。',
];

describe('the introduction of a quoted notice goes in any language', () => {
  test.each(INTRODUCTIONS)('%s', (introduction) => {
    for (const notice of [MARKED, PLAIN])
      for (const gap of ['\n', '\n\n'])
        for (const words of WORDS) {
          const text = `${words}\n\n${filled(introduction)}${gap}${notice}`;
          expect(withoutNotice(text), text).toBe(words);
        }
  });

  test.each(INTRODUCTIONS)('broken over lines: %s', (introduction) => {
    for (let width = 50; width <= 78; width += 1) {
      const lines = [''];
      for (const word of filled(introduction).split(' ')) {
        const line = `${lines.at(-1)} ${word}`.trim();
        if (line.length <= width) lines[lines.length - 1] = line;
        else lines.push(word);
      }
      for (const words of WORDS) {
        const text = `${words}\n\n${lines.join('\n')}\n${MARKED}`;
        expect(withoutNotice(text), text).toBe(words);
      }
    }
  });

  test.each(HEADERS)('the header of Outlook: %s', (...header) => {
    for (const before of ['', '________________________________\n', '-----Original Message-----\n'])
      for (const words of WORDS.filter((some) => !some.includes(':'))) {
        const text = `${words}\n\n${before}${filled(header.join('\n'))}\n\n${PLAIN}`;
        expect(withoutNotice(text), text).toBe(words);
      }
  });

  test.each(RULES)('a rule: %s', (rule) => {
    expect(withoutNotice(`It works.\n\n${rule}\n${PLAIN}`)).toBe('It works.');
  });

  test('and own words above a notice without an introduction stay', () => {
    for (const words of [
      ...WORDS,
      'Two things: a and b',
      'Call 0664 123 456',
      'I am there at 10:00',
      'x@example.com is my address',
    ])
      for (const notice of [MARKED, PLAIN]) {
        expect(withoutNotice(`${words}\n\n${notice}`)).toBe(words);
        expect(withoutNotice(`${words}\n${notice}`)).toBe(words);
      }
  });

  test('and takes nothing from a paragraph above it', () => {
    const introduction = fc.constantFrom(...INTRODUCTIONS);
    const words = fc.array(fc.stringMatching(/^[A-Za-z0-9 :,]{1,30}[a-z.]$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(introduction, words, (line, own) => {
        const said = own.map((some) => some.trim()).join('\n');
        return withoutNotice(`${said}\n\n${filled(line)}\n${MARKED}`) === said.replaceAll(/[ \t]+$/gmu, '');
      }),
      { seed: 48, numRuns: 500 },
    );
  });
});
