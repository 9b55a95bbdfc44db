import { Scans } from '#scan/scans.ts';

type Parts = ConstructorParameters<typeof Scans>[0];

/** The agent's scans without the rest of it, for programs that tests kill or attack. */
export function scansAlone(parts: Pick<Parts, 'state' | 'say'> & Partial<Parts>): Scans {
  let seq = 0;
  return new Scans({
    happened: () => {},
    nextSeq: () => (seq += 1),
    isSaid: () => false,
    signatures: () => ({ rules_folder: new URL('../../server/signatures/rules', import.meta.url).pathname, feeds: [] }),
    log: (line) => process.stderr.write(`${line}\n`),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    ...parts,
  });
}
