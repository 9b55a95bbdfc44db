// Collects the claims about the product and the tests that prove them. `node scripts/proofs.mjs --out FILE` writes the report as Markdown.
// A comment directly above a test lists the claims that it proves: `// proves: attack-A.1-1, asvs-1.2.4`. In the first line of a file it applies to the whole file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ASVS } from './claims/asvs.mjs';
import { ATTACKS } from './claims/attacks.mjs';
import { DEVICE_FAULTS } from './claims/device-faults.mjs';
import { PRODUCT } from './claims/product.mjs';
import { REMOTE_FAULTS } from './claims/remote-faults.mjs';
import { SUPPORT } from './claims/support.mjs';
import { ROOT } from './node-runtime.mjs';
import { projectFiles } from './project-files.mjs';

/**
 * `says` is the claim. An ASVS requirement has `asks` and `status` instead, and `note` with the reason. `shown_in` lists files (with `#section` of a
 * document or `: words`) that show the claim where no test can.
 * @typedef {{ id: string, says?: string, asks?: string, status?: string, note?: string, shown_in?: string[] }} Claim
 * @typedef {{ ids: string[], file: string, test: string }} Proof
 */

/** Files that are searched for these comments: tests, and the lists of malicious files that tests use. */
const TAGGED = /\.(?:test|spec)\.(?:ts|tsx|mjs)$|^(?:scanner|agent|server)\/test\//;
const TAG = /^\s*\/\/ proves: (.+)$/;
/** A line that can follow a tag: a test or a group of tests. */
const TEST = /^\s*(?:needing\(.*\)\.)?(?:test|it|describe)(?:\.\w+)*(?:<.*>)?\(/;
const ROW = /^\s*(?:(?:\[|\w+\()\s*)?(?<quote>['"`])/;
const NOT_RUN = /^\s*(?:needing\(.*\)\.)?(?:test|it|describe)\.(?:skip|todo|fails|fixme)\b/;
const NAME = /(?:[([]|^\s*)\s*(['"`])((?:\\.|(?!\1).)*)\1/;

/** Parses the claims in the abuse table of SECURITY.md. @param {string} text @returns {Claim[]} */
export function abuseClaims(text) {
  return [...text.matchAll(/^\| (security-\d+) \| (.+?) \| (.+) \|$/gm)].map(([, id = '', abuse, answer]) => ({
    id,
    says: `${abuse}: ${answer}`,
  }));
}

/** @returns {{ title: string, claims: Claim[] }[]} */
export function allClaims() {
  return [
    { title: 'Abuse (SECURITY.md)', claims: abuseClaims(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')) },
    { title: 'Attacks', claims: ATTACKS },
    { title: 'Faults of devices', claims: DEVICE_FAULTS },
    { title: 'Faults of remote sessions', claims: REMOTE_FAULTS },
    { title: 'Product', claims: PRODUCT },
    { title: 'Support', claims: SUPPORT },
    { title: 'OWASP ASVS 5.0.0, levels 1 and 2', claims: ASVS },
  ];
}

/** Name of the test at a line. For a table of cases the name follows the table. @param {string[]} lines @param {number} at */
function nameAt(lines, at) {
  const first = lines[at] ?? '';
  const indent = /^\s*/.exec(first)?.[0] ?? '';
  const isTable = /^\s*(?:test|it|describe)(?:\.\w+)*\.each(?:<.*>)?\(/.test(first) && !/\)\(\s*['"`]/.test(first);
  const closes = (/** @type {string} */ line) => line.startsWith(`${indent}]`) || line.startsWith(`${indent})`);
  const behind = lines.findIndex((line, index) => index > at && closes(line));
  const from = !isTable ? at : /\)\($/.test(first) ? at + 1 : behind;
  for (const line of lines.slice(from, from + 4)) {
    const name = NAME.exec(line.replace(/^.*(?:\)|\.(?:test|it|describe))\((?=\s*['"`])/, '('))?.[2];
    if (name !== undefined) return name;
  }
  return '';
}

/** Reads the tags of a file. A tag without a following test is a fault. @param {string} file @param {string} text @returns {{ proofs: Proof[], faults: string[] }} */
export function proofsOf(file, text) {
  const lines = text.split('\n');
  /** @type {Proof[]} */
  const proofs = [];
  /** @type {string[]} */
  const faults = [];
  for (const [index, line] of lines.entries()) {
    const ids = TAG.exec(line)?.[1]?.split(', ');
    if (ids === undefined) continue;
    const where = `${file}:${index + 1}`;
    if (index === 0) {
      if (lines.some((one) => TEST.test(one))) proofs.push({ ids, file, test: 'the whole file' });
      else faults.push(`${where}: no test in the file`);
      continue;
    }
    let at = index + 1;
    while (/^\s*\/\//.test(lines[at] ?? '')) at += 1;
    const below = lines[at] ?? '';
    if (NOT_RUN.test(below)) faults.push(`${where}: the test is not run`);
    else {
      const test = TEST.test(below) || ROW.test(below) ? nameAt(lines, at) : '';
      if (test === '') faults.push(`${where}: no test below`);
      else proofs.push({ ids, file, test });
    }
  }
  return { proofs, faults };
}

/** All tags of the repository. */
export function allProofs() {
  const read = projectFiles()
    .filter((file) => TAGGED.test(file))
    .map((file) => proofsOf(file, readFileSync(join(ROOT, file), 'utf8')));
  return { proofs: read.flatMap(({ proofs }) => proofs), faults: read.flatMap(({ faults }) => faults) };
}

/** Whether a reference in `shown_in` exists: a file, with `#section` of a document or `: words` of a source. @param {string} place */
export function isThere(place) {
  const [, path = '', section, words] = /^([^#:]+)(?:#([^:]+))?(?:: (.+))?$/.exec(place) ?? [];
  if (path === '' || !existsSync(join(ROOT, path))) return false;
  if (section === undefined && words === undefined) return true;
  const text = readFileSync(join(ROOT, path), 'utf8');
  const sections = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  return (section === undefined || sections.includes(section)) && (words === undefined || text.includes(words));
}

/** Faults: claims without proof, tags without claim, duplicate ids, and missing references. @param {Claim[]} claims @param {Proof[]} proofs */
export function faultsOf(claims, proofs) {
  const proved = new Set(proofs.flatMap(({ ids }) => ids));
  const known = new Set(claims.map(({ id }) => id));
  return [
    ...claims
      .filter(({ id }, index) => claims.findIndex((claim) => claim.id === id) !== index)
      .map(({ id }) => `${id} is there twice`),
    ...claims
      .filter(({ id, status, shown_in = [] }) => (status ?? 'met') === 'met' && !proved.has(id) && shown_in.length === 0)
      .map(({ id }) => `${id} has no proof`),
    ...claims.flatMap(({ id, shown_in = [] }) =>
      shown_in.filter((place) => !isThere(place)).map((place) => `${id}: ${place} is not there`),
    ),
    ...proofs.flatMap(({ ids, file, test }) =>
      ids.filter((id) => !known.has(id)).map((id) => `${file}: "${test}" proves ${id}, which is no claim`),
    ),
  ];
}

/** @param {ReturnType<typeof allClaims>} sets @param {Proof[]} proofs */
export function reportOf(sets, proofs) {
  const lines = ['# Claims and their proofs', '', 'Made by `node scripts/proofs.mjs`.'];
  for (const { title, claims } of sets) {
    lines.push('', `## ${title}`, '');
    const counts = Object.entries(Object.groupBy(claims, ({ status }) => status ?? '')).map(([status, some = []]) =>
      `${some.length} ${status}`.trim(),
    );
    lines.push(
      `${claims.length} claims${counts.length > 1 ? `: ${counts.join(', ')}` : ''}.`,
      '',
      '| id | claim | shown by |',
      '| --- | --- | --- |',
    );
    for (const { id, says, asks, status, note, shown_in = [] } of claims) {
      const tests = proofs
        .filter(({ ids }) => ids.includes(id))
        .map(({ file, test }) => `${file}: *${test.replaceAll('|', '\\|')}*`);
      const claim = says ?? `${asks} (${status}${note === undefined ? '' : `: ${note}`})`;
      lines.push(`| ${id} | ${claim} | ${[...tests, ...shown_in].join('; ')} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const sets = allClaims();
  const { proofs, faults } = allProofs();
  const wrong = [
    ...faults,
    ...faultsOf(
      sets.flatMap(({ claims }) => claims),
      proofs,
    ),
  ];
  const out = process.argv.indexOf('--out');
  const file = process.argv[out + 1];
  if (out >= 0 && file !== undefined) writeFileSync(file, reportOf(sets, proofs));
  else if (out < 0) process.stdout.write(reportOf(sets, proofs));
  for (const fault of wrong) process.stderr.write(`palisade: ${fault}\n`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
