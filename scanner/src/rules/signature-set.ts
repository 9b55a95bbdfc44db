import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { referenceSchema } from '@palisade/contract/quarantine';
import { z } from 'zod';
import type { Match, Matchers, MatchRules } from '#scanner/walk/examination.ts';
import { findHash, type HashList, openHashList } from './hash-list.ts';
import { compileRules, compileSource, countRules, EXTERNALS, type Externals, VERSION_LENGTH } from './rules.ts';
import type { FeedFile, SignatureFiles } from './signature-files.ts';
import { parseYara } from './yara-source.ts';

/** Signatures ready to match. `version`: digest of the pack and of every feed in use. */
export interface SignatureSet extends Matchers {
  version: string;
  rules: number;
  hashes: number;
  /** Ids of feeds that could not be used. The pack and the other feeds are in use. */
  left_out: string[];
  /** Additional memory of this process for each feed in use. Bytes. */
  memory: { id: string; bytes: number }[];
}

/** Metadata of feed rules, which lack some fields of the pack's rules: each missing or invalid field has a default. */
const feedMetaSchema = z.object({
  threat: z.string().min(1).max(100).optional().catch(undefined),
  description: z.string().min(1).max(500).catch('A rule of a signature feed matches this file.'),
  severity: z.enum(['low', 'medium', 'high', 'critical']).catch('high'),
  reference: referenceSchema.catch(null),
  verdict: z.enum(['infected', 'suspicious']).optional().catch(undefined),
});
/** The match of content whose hash is listed. No YARA rule can have this name. */
const LISTED = {
  rule: 'sha256:list',
  description: 'These exact bytes are on a list of known malware.',
  severity: 'high',
  reference: null,
  verdict: 'infected',
} as const;
/** Prefix of rules in public feeds that report only a suspicion (`SUSP_...`). */
const SUSPICIOUS_NAME = /^susp/i;

/** External variables for a content's path. Facts that only the file's computer knows stay empty. */
function externalsOf(path: string): Externals {
  const filename = path.split(/[/\\]/).at(-1) ?? '';
  return { filename, filepath: path.slice(0, -filename.length - 1), extension: extname(filename), filetype: '', owner: '' };
}

/** Compiles the rules of a feed as a separate set, so that none of them (`global` rules above all) affects the pack. */
export function compileFeed(source: string): { match: (bytes: Buffer, path?: string) => Match[]; asks_for_names: boolean } {
  const compiled = compileSource(source);
  const names = Object.keys(EXTERNALS);
  const asks_for_names = parseYara(source).rules.some(({ words }) => names.some((name) => words.has(name)));
  const match = (bytes: Buffer, path?: string): Match[] =>
    compiled.scan(bytes, asks_for_names && path !== undefined ? { ...externalsOf(path) } : undefined).map(({ rule, meta }) => {
      const { threat = rule, verdict, ...rest } = feedMetaSchema.parse(meta);
      return {
        ...rest,
        rule,
        threat,
        verdict: verdict ?? (SUSPICIOUS_NAME.test(rule) ? 'suspicious' : 'infected'),
      };
    });
  return { match, asks_for_names };
}

/** A match of a feed whose severity is `note`. */
const asNote = (match: Match): Match => ({ ...match, verdict: 'suspicious' });

/**
 * Compiles the pack and the feeds. A feed that cannot be used is left out.
 * @throws when the pack does not compile.
 */
export async function loadSignatures({ rules_folder, feeds }: SignatureFiles): Promise<SignatureSet> {
  const pack = await compileRules(rules_folder);
  const matchers: MatchRules[] = [pack.match];
  const lists: { list: HashList; severity: FeedFile['severity'] }[] = [];
  const memory: SignatureSet['memory'] = [];
  let asks_for_names = false;
  const used: FeedFile[] = [];
  const left_out: string[] = [];
  let rules = pack.rules;
  for (const feed of feeds) {
    const before = process.memoryUsage.rss();
    try {
      if (feed.kind === 'sha256') {
        lists.push({ list: openHashList(feed.path), severity: feed.severity });
      } else {
        const source = await readFile(feed.path, 'utf8');
        const compiled = compileFeed(source);
        const { match } = compiled;
        matchers.push((bytes, _onPlaces, path) => {
          const found = match(bytes, path);
          return feed.severity === 'note' ? found.map(asNote) : found;
        });
        rules += countRules(source);
        asks_for_names ||= compiled.asks_for_names;
      }
      used.push(feed);
      globalThis.gc?.();
      memory.push({ id: feed.id, bytes: Math.max(0, process.memoryUsage.rss() - before) });
    } catch {
      left_out.push(feed.id);
    }
  }
  const digest = createHash('sha256').update(pack.version);
  for (const feed of used) digest.update(`\n${feed.id} ${feed.digest}${feed.severity === 'note' ? ' note' : ''}`);
  return {
    version: used.length === 0 ? pack.version : digest.digest('hex').slice(0, VERSION_LENGTH),
    rules,
    hashes: lists.reduce((sum, { list }) => sum + list.count, 0),
    left_out,
    memory,
    asks_for_names,
    match: (bytes, onPlaces, path, is_within) => matchers.flatMap((match) => match(bytes, onPlaces, path, is_within)),
    matchHash:
      lists.length === 0
        ? undefined
        : (sha256) =>
            (['alarm', 'note'] as const).flatMap((severity) => {
              const of_these = lists.filter((one) => one.severity === severity).map(({ list }) => list);
              const threat = findHash(of_these, sha256);
              if (threat === undefined) return [];
              return [severity === 'note' ? asNote({ ...LISTED, threat }) : { ...LISTED, threat }];
            }),
  };
}
