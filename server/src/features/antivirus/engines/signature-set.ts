import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { referenceSchema } from '@palisade/contract/quarantine';
import { z } from 'zod';
import type { Match, Matchers, MatchRules } from './examine.ts';
import { type HashList, openHashList } from './hash-list.ts';
import { compileRules, compileSource, countRules, VERSION_LENGTH } from './rules.ts';
import type { FeedFile, SignatureFiles } from './signature-files.ts';

/** Signatures ready to match. `version` covers the pack and every feed that is in use. */
export interface SignatureSet extends Matchers {
  version: string;
  rules: number;
  hashes: number;
  /** Ids of feeds that could not be used. The others and the pack serve all the same. */
  left_out: string[];
}

/** Rules of others say less than ours: what is missing gets the meaning that most feeds give it. */
const feedMetaSchema = z.object({
  threat: z.string().min(1).max(100).optional().catch(undefined),
  description: z.string().min(1).max(500).catch('A rule of a signature feed matches this file.'),
  severity: z.enum(['low', 'medium', 'high', 'critical']).catch('high'),
  reference: referenceSchema.catch(null),
  verdict: z.enum(['infected', 'suspicious']).optional().catch(undefined),
});
/** The name that a list's entry without a name goes by. */
const UNNAMED_THREAT = 'Known-Malware';
/** What is said of content that a list names. The list is its own namespace: no rule can be called so. */
const LISTED = {
  rule: 'sha256:list',
  description: 'These exact bytes are on a list of known malware.',
  severity: 'high',
  reference: null,
  verdict: 'infected',
} as const;
/** How public feeds name rules that only suspect (`SUSP_...`). */
const SUSPICIOUS_NAME = /^susp/i;

/** The rules of a feed. They are a compiled set of their own, so that none of them (`global` ones above all) reaches into the pack's. */
function compileFeed(source: string): (bytes: Buffer) => Match[] {
  const compiled = compileSource(source);
  return (bytes) =>
    compiled.scan(bytes).map(({ ruleIdentifier, meta }) => {
      const { threat = ruleIdentifier, verdict, ...rest } = feedMetaSchema.parse(meta);
      return {
        ...rest,
        rule: ruleIdentifier,
        threat,
        verdict: verdict ?? (SUSPICIOUS_NAME.test(ruleIdentifier) ? 'suspicious' : 'infected'),
      };
    });
}

/** The threat that the lists name for a sum, the first that knows it. */
export function findHash(lists: readonly HashList[], sha256: string): string | undefined {
  for (const list of lists) {
    const found = list.find(sha256);
    if (found !== undefined) return found.name ?? UNNAMED_THREAT;
  }
  return undefined;
}

/**
 * Compiles the pack and the feeds. A feed that cannot be used is left out; the pack never is.
 * @throws when the pack does not compile.
 */
export async function loadSignatures({ rules_folder, feeds }: SignatureFiles): Promise<SignatureSet> {
  const pack = await compileRules(rules_folder);
  const matchers: MatchRules[] = [pack.match];
  const lists: HashList[] = [];
  const used: FeedFile[] = [];
  const left_out: string[] = [];
  let rules = pack.rules;
  for (const feed of feeds) {
    try {
      if (feed.kind === 'sha256') {
        lists.push(openHashList(feed.path));
      } else {
        const source = await readFile(feed.path, 'utf8');
        matchers.push(compileFeed(source));
        rules += countRules(source);
      }
      used.push(feed);
    } catch {
      left_out.push(feed.id);
    }
  }
  const digest = createHash('sha256').update(pack.version);
  for (const feed of used) digest.update(`\n${feed.id} ${feed.digest}`);
  return {
    version: used.length === 0 ? pack.version : digest.digest('hex').slice(0, VERSION_LENGTH),
    rules,
    hashes: lists.reduce((sum, list) => sum + list.count, 0),
    left_out,
    match: (bytes, onPlaces) => matchers.flatMap((match) => match(bytes, onPlaces)),
    matchHash:
      lists.length === 0
        ? undefined
        : (sha256) => {
            const threat = findHash(lists, sha256);
            return threat === undefined ? [] : [{ ...LISTED, threat }];
          },
  };
}
