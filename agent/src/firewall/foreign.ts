import type { ForeignTable } from '@palisade/contract/agent';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import type { Nft } from './nft.ts';

const TABLES_MAXIMUM = 50;
const NAME_LENGTH = 128;
const tableSchema = z.object({ table: z.object({ family: z.string().max(20), name: z.string() }) });
const chainSchema = z.object({ chain: z.object({ family: z.string(), table: z.string(), policy: z.string().optional() }) });
const ruleSchema = z.object({ rule: z.object({ family: z.string(), table: z.string(), expr: z.array(z.unknown()) }) });

const isDrop = (expression: unknown) =>
  typeof expression === 'object' && expression !== null && ('drop' in expression || 'reject' in expression);

/**
 * Lists the tables of other programs and whether they drop packets, which this agent's rules cannot prevent. The list never contains this agent's table, and the others are
 * never changed.
 */
export async function readForeignTables(nft: Nft): Promise<ForeignTable[]> {
  const listed = (await nft.listJson(['ruleset'])) ?? [];
  const dropping = new Set<string>();
  for (const entry of listed) {
    const chain = chainSchema.safeParse(entry).data?.chain;
    if (chain?.policy === 'drop') dropping.add(`${chain.family} ${chain.table}`);
    const rule = ruleSchema.safeParse(entry).data?.rule;
    if (rule?.expr.some(isDrop)) dropping.add(`${rule.family} ${rule.table}`);
  }
  return listed
    .flatMap((entry) => tableSchema.safeParse(entry).data?.table ?? [])
    .filter(({ family, name }) => !(family === 'inet' && name === 'palisade'))
    .map(({ family, name }) => ({ family, name: lineOf(name, NAME_LENGTH), drops: dropping.has(`${family} ${name}`) }))
    .slice(0, TABLES_MAXIMUM);
}
