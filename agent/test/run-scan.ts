import { readSync } from 'node:fs';
import { scansAlone } from './scans-alone.ts';

/** One scan job, as the agent does it for its server, in a process that can be killed. Writes each report as a line of JSON, and waits for a byte after each. */
const [state = '', path = '', id = ''] = process.argv.slice(2);
const scans = scansAlone({
  state,
  lowerPriority: async () => {},
  say(report) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    // Not process.stdin.fd: to read it would make the pipe one that does not wait.
    readSync(0, Buffer.alloc(1));
  },
});
scans.resend();
scans.want({ file_orders: [], exclusions: [], scan_jobs: [{ id, scan: 'folder', path, wanted: 'run' }] });
