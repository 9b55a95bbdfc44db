// How long a person waits from the start of an upload to the verdict, against the `yara` command line with the same rules on the same files, in one
// run on one machine. Prints a table and keeps it in results/scan.json. Needs: npm start once (for the build), and the package "yara".
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, openAsBlob, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scanSchema } from '@palisade/contract/antivirus';
import { describeMachine, median, RESULTS, ROOT, startServer } from './server.ts';

const CASES = [
  { name: '4 KB', bytes: 4096, runs: 60 },
  { name: '100 MB', bytes: 100 * 1024 ** 2, runs: 7 },
];

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function scan(url: string, token: string, path: string): Promise<void> {
  const form = new FormData();
  form.append('file', await openAsBlob(path), 'file.bin');
  const answer = await fetch(`${url}/api/antivirus/scan`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${token}` },
  });
  const record = scanSchema.parse(await answer.json());
  if (record.scan_status !== 'clean') throw new Error(`expected a clean file, got ${record.scan_status} ${record.status_detail}`);
}

/** All rules compiled once for the peer, so that it is not charged for compiling. */
function compileForYara(folder: string): { compiled: string; version: string } {
  const rules = join(ROOT, 'server/signatures/rules');
  const compiled = join(folder, 'rules.yarc');
  const version = execFileSync('yara', ['--version'], { encoding: 'utf8' }).trim();
  execFileSync('yarac', [
    '-w',
    ...readdirSync(rules).map((name) => `${name.replace(/\W/g, '_')}:${join(rules, name)}`),
    compiled,
  ]);
  return { compiled, version };
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
const server = await startServer();
try {
  const { token } = await server.signIn();
  const { compiled, version } = compileForYara(folder);
  const results = [];
  for (const { name, bytes, runs } of CASES) {
    const ours: number[] = [];
    const peers: number[] = [];
    for (let run = 0; run <= runs; run += 1) {
      const path = join(folder, 'file.bin');
      writeFileSync(path, randomBytes(bytes));
      const our = await timed(() => scan(server.url, token, path));
      const peer = await timed(() => execFileSync('yara', ['-w', '-C', compiled, path]));
      // The first run warms both up.
      if (run > 0) {
        ours.push(our);
        peers.push(peer);
      }
    }
    results.push({ case: name, runs, palisade_ms: median(ours), yara_ms: median(peers), ratio: median(ours) / median(peers) });
  }
  const machine = { ...describeMachine(), yara: version };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(
    join(RESULTS, 'scan.json'),
    `${JSON.stringify({ what: 'median ms from upload to verdict over HTTP, against yara -C on the same file', at: new Date().toISOString(), machine, results }, null, 2)}\n`,
  );
  console.table(
    results.map((row) => ({
      ...row,
      palisade_ms: row.palisade_ms.toFixed(1),
      yara_ms: row.yara_ms.toFixed(1),
      ratio: row.ratio.toFixed(2),
    })),
  );
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
