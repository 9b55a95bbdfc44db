import { Scans } from '#scan/scans.ts';

/** One scan job, as the agent does it for its server, in a process that can be killed. Writes each report as a line of JSON. */
const [state = '', path = '', id = ''] = process.argv.slice(2);
let seq = 0;
const scans = new Scans({
  state,
  happened: () => {},
  nextSeq: () => (seq += 1),
  isSaid: () => false,
  signatures: () => ({ rules_folder: new URL('../../server/signatures/rules', import.meta.url).pathname, feeds: [] }),
  log: (line) => process.stderr.write(`${line}\n`),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  lowerPriority: async () => {},
  say: (report) => process.stdout.write(`${JSON.stringify(report)}\n`),
});
scans.resend();
scans.want({ file_orders: [], exclusions: [], scan_jobs: [{ id, scan: 'folder', path, wanted: 'run' }] });
