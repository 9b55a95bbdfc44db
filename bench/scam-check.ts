// Measures the scam check: true and false positives for messages and names, time, and memory. Limits: scam-check in docs/measured.md. Writes scam-check.json and prints the errors. `node bench/scam-check.ts [messages.tsv]`
// The argument is the file of the SMS Spam Collection (Almeida and Hidalgo, CC BY 4.0; label, tab, text), which is not part of this project; without it that measurement is skipped.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeApart } from '@palisade/scam/address';
import { openTextReader } from '@palisade/scam/picture-text';
import { ScamCheck } from '@palisade/scam/scam-check';
import { codePictures, largePicture } from './scam-codes.ts';
import { generateLookAlikes, honestHosts, MEASURED, seeded } from './scam-look-alikes.ts';
import { makeScreenshot, watchProcesses } from './scam-memory.ts';
import { keepResult, ROOT } from './server.ts';

const LOOK_ALIKES = 24_000;
const HONEST_NAMES = 10_000;
const CODES = 500;
const SHOWN = 20;
/** Number of parts of the short messages that are measured separately, to show the variance. */
const FOLDS = 10;

const check = new ScamCheck({ provider: { name: 'Palisade Support', domains: ['palisade-support.example'] } });
const share = (part: number, whole: number) => Number((part / whole).toFixed(5));
const isFlagged = async (text: string) => {
  const { verdict } = await check.checkText(text);
  return verdict === 'suspicious' || verdict === 'dangerous';
};

function p95(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Number((sorted[Math.floor(sorted.length * 0.95)] ?? 0).toFixed(1));
}

async function lookAlikes() {
  const made = generateLookAlikes(LOOK_ALIKES);
  const missed = new Map<string, number>();
  const examples: string[] = [];
  for (const { url, way } of made) {
    if (await isFlagged(url)) continue;
    missed.set(way, (missed.get(way) ?? 0) + 1);
    if (examples.length < SHOWN * 4) examples.push(`${way} ${url}`);
  }
  const count = [...missed.values()].reduce((sum, one) => sum + one, 0);
  const spread = Math.max(1, Math.floor(examples.length / SHOWN));
  return {
    brands: MEASURED.length,
    generated: made.length,
    flagged_share: share(made.length - count, made.length),
    missed_by_way: Object.fromEntries(missed),
    misses: examples.filter((_, at) => at % spread === 0).slice(0, SHOWN),
  };
}

async function honestNames() {
  const hosts = honestHosts();
  const names = [...new Set(hosts.flatMap((host) => takeApart(`https://${host}/`)?.domain ?? []))];
  const measured = names.slice(0, HONEST_NAMES);
  const falseAlarms: string[] = [];
  for (const name of measured) if (await isFlagged(`https://${name}/`)) falseAlarms.push(name);
  return {
    source: 'domain-map.csv of the package third-party-web 0.30.0 (MIT): hosts of the HTTP Archive, the most frequent first',
    names: measured.length,
    flagged_share: share(falseAlarms.length, measured.length),
    false_alarms: falseAlarms,
  };
}

/** Whether a message asks the recipient to call, answer or open a link. */
const asks = (text: string) =>
  /\b(?:call|ring|phone|dial|txt|text|reply|send|sms|msg)\b|https?:|www\.|\.(?:com|co\.uk|net)\b/iu.test(text);

async function shortMessages(path: string | undefined) {
  if (path === undefined) return { left_out: 'no file was named' };
  const rows = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((row) => row.split('\t'));
  const counts = { ham: 0, ham_suspicious: 0, ham_dangerous: 0, spam: 0, asking: 0, found: 0 };
  const falseAlarms: string[] = [];
  const misses: string[] = [];
  const random = seeded(47);
  const folds = Array.from({ length: FOLDS }, () => ({ spam: 0, found: 0, ham: 0, ham_suspicious: 0 }));
  for (const [label, text = ''] of rows) {
    const { verdict } = await check.checkText(text);
    const isFound = verdict === 'suspicious' || verdict === 'dangerous';
    const fold = folds[Math.floor(random() * FOLDS)];
    if (fold !== undefined) {
      fold[label === 'ham' ? 'ham' : 'spam'] += 1;
      if (isFound) fold[label === 'ham' ? 'ham_suspicious' : 'found'] += 1;
    }
    if (label === 'ham') {
      counts.ham += 1;
      if (verdict === 'dangerous') counts.ham_dangerous += 1;
      else if (isFound) counts.ham_suspicious += 1;
      if (isFound) falseAlarms.push(text);
    } else {
      counts.spam += 1;
      if (!asks(text)) continue;
      counts.asking += 1;
      if (isFound) counts.found += 1;
      else misses.push(text);
    }
  }
  const { ham, ham_suspicious, asking, found } = counts;
  process.stdout.write(`misses of short messages:\n${misses.join('\n')}\nfalse alarms:\n${falseAlarms.join('\n')}\n`);
  const found_shares = folds.map((fold) => share(fold.found, fold.spam));
  return {
    ...counts,
    folds,
    found_shares,
    suspicious_share_of_ham: share(ham_suspicious, ham),
    found_share_of_asking: share(found, asking),
  };
}

interface Sample {
  set: string;
  label: string;
  kind: string;
  text: string;
  language: string;
}

function samples(): Sample[] {
  const folder = join(ROOT, 'scam/samples');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tsv'))
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((row) => {
          const [set = '', label = '', kind = '', text = ''] = row.split('\t');
          return { set, label, kind, text, language: name.slice(0, 2) };
        }),
    );
}

async function written() {
  const rows = samples();
  const measure = async (set: string) => {
    const figures = { scams: 0, found: 0, dangerous: 0, honest: 0, false_alarms: 0 };
    for (const { set: of, label, kind, text, language } of rows) {
      if (of !== set) continue;
      const { verdict } = await check.checkText(text);
      const isFound = verdict === 'suspicious' || verdict === 'dangerous';
      if (label === 'scam') {
        figures.scams += 1;
        if (isFound) figures.found += 1;
        if (verdict === 'dangerous') figures.dangerous += 1;
      } else {
        figures.honest += 1;
        if (isFound) figures.false_alarms += 1;
      }
      // Rows of the held-out set are counted and not printed, so that word lists are not tuned to them.
      if (set === 'tune' && isFound !== (label === 'scam')) process.stdout.write(`${language} ${label} ${kind}: ${text}\n`);
    }
    return {
      ...figures,
      found_share: share(figures.found, figures.scams),
      false_alarm_share: share(figures.false_alarms, figures.honest),
    };
  };
  return { tune: await measure('tune'), held: await measure('held') };
}

async function codes() {
  const missed = new Map<string, number>();
  let [decoded, count] = [0, 0];
  const times: number[] = [];
  for (const { text, trouble, picture } of codePictures(CODES)) {
    const before = performance.now();
    const answer = await check.checkFile('code.png', picture);
    times.push(performance.now() - before);
    count += 1;
    if (answer.parts.codes.some((code) => code.text === text)) decoded += 1;
    else missed.set(trouble, (missed.get(trouble) ?? 0) + 1);
  }
  return {
    pictures: count,
    decoded,
    decoded_share: share(decoded, count),
    missed_by_trouble: Object.fromEntries(missed),
    p95_ms: p95(times),
  };
}

const LARGE = 'https://park-now.example/pay';
/** The largest pictures of each pixel format that are decoded. */
const LARGEST: readonly [width: number, height: number, channels: 1 | 3 | 4][] = [
  [5_712, 4_284, 1],
  [5_712, 4_284, 3],
  [4_300, 4_300, 4],
];

/** Measures the memory of the processes that read pictures, and the time for a screenshot, in a separate check. */
async function pictures() {
  const text = openTextReader();
  const reading = new ScamCheck(text === undefined ? {} : { readPictureText: text.read });
  const watch = watchProcesses();
  const largest: string[] = [];
  for (const [width, height, channels] of LARGEST) {
    const { parts } = await reading.checkFile('a.png', largePicture(LARGE, width, height, channels));
    largest.push(`${width} x ${height} of ${channels}: ${parts.codes.some((code) => code.text === LARGE) ? 'read' : 'missed'}`);
  }
  const screenshot = makeScreenshot(
    samples()
      .slice(0, 30)
      .map((sample) => sample.text),
  );
  const times: number[] = [];
  let has_text = false;
  if (screenshot !== undefined)
    for (let round = 0; round < 5; round += 1) {
      const before = performance.now();
      const { checked } = await reading.checkFile('a.png', screenshot);
      times.push(performance.now() - before);
      has_text = checked.some(({ part, code }) => part === 'picture_text' && (code === null || code === 'text_language'));
    }
  reading.close();
  text?.close();
  return { largest, screenshot_ms: times.map(Math.round), has_text, ...watch.end() };
}

keepResult('scam-check', {
  look_alikes: await lookAlikes(),
  honest_names: await honestNames(),
  short_messages: await shortMessages(process.argv[2]),
  written_messages: await written(),
  codes: await codes(),
  pictures: await pictures(),
});
check.close();
