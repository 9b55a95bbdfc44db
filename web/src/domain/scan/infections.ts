import { type Infection, type Scan, SETTLED_MAXIMUM, settleInfections } from '@palisade/contract/antivirus';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { describeDate } from '#ui/moment.tsx';

/** Open infections among scans. Uploads of the same bytes count as one; on devices each copy counts. */
export function openInfections(scans: readonly Scan[]): Scan[] {
  const copies = new Map<string, Scan>();
  for (const scan of scans) {
    const key = JSON.stringify([scan.file_hash, scan.device?.id, scan.device?.path]);
    if (scan.infection?.state === 'open' && !copies.has(key)) copies.set(key, scan);
  }
  return [...copies.values()].slice(0, SETTLED_MAXIMUM);
}

/** The end of a closed infection. `device_name` is the device that has the file. */
export function describeEnd({ at, by }: Extract<Infection, { state: 'closed' }>, device_name: string | undefined): string {
  const day = describeDate(at);
  if (by === 'upgrade') return `Closed on ${day}, with an update of Palisade.`;
  if (by === 'person') return `You deleted it on ${day}.`;
  return device_name === undefined ? `Palisade removed it on ${day}.` : `Palisade removed it from ${device_name} on ${day}.`;
}

/** Marks infected files as deleted by the person, or as still present. */
export function useSettleInfections() {
  return useChange({
    of: settleInfections,
    mutationFn: (body: { scan_ids: string[]; deleted: boolean }) => call(settleInfections, { body }),
    // The alerts about these files.
    renews: [['anti-hacking']],
  });
}
