import { Readable } from 'node:stream';
import type { Activity } from '@palisade/contract/audit';
import { BYTE_ORDER_MARK, csvLine } from './csv.ts';

async function* csvOf(entries: AsyncIterable<Activity>) {
  yield BYTE_ORDER_MARK + csvLine(['Number', 'Time (UTC)', 'What', 'By', 'Address', 'Client', 'Details']);
  for await (const { seq, at, kind, by, address, client, details } of entries) {
    const facts = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
    yield csvLine([String(seq), at, kind, by, address ?? '', client ?? '', facts.join('; ')]);
  }
}

async function* jsonOf(entries: AsyncIterable<Activity>) {
  let separator = '[\n';
  for await (const entry of entries) {
    yield separator + JSON.stringify(entry);
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

/** Returns entries of the audit log as a downloadable CSV or JSON stream, and sets its headers. */
export function activityFile(
  entries: AsyncIterable<Activity>,
  { name, format, header }: { name: string; format: 'csv' | 'json'; header: (name: string, value: string) => void },
): Readable {
  header('content-type', format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8');
  header('content-disposition', `attachment; filename="${name}.${format}"`);
  return Readable.from((format === 'csv' ? csvOf : jsonOf)(entries));
}
