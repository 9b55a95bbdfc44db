import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshFolder } from './cluster.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Output of git; undefined where it fails or is missing. */
export function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/**
 * The last landed commit: the one of UPGRADE_FROM; on a branch the one that it left the main line at, and on the main line the one before. Undefined where the history does not reach so far.
 */
export function lastLanded(): string | undefined {
  const named = process.env['UPGRADE_FROM'];
  if (named !== undefined) return named;
  const head = git('rev-parse', 'HEAD');
  const common = ['main', 'origin/main', 'master', 'origin/master']
    .map((branch) => git('merge-base', 'HEAD', branch))
    .find((commit) => commit !== undefined && commit !== head);
  return common ?? git('rev-parse', '--verify', 'HEAD^1');
}

/** Folders of a server. Earlier versions had fewer. */
const WORKSPACES: readonly string[] = ['contract', 'names', 'scanner', 'scam', 'server'];

/** Lays out the version of a commit, on the packages that are installed here, and answers its `main.ts`. */
export function layOut(commit: string): string {
  const folder = freshFolder('version');
  const parts = (git('ls-tree', '--name-only', commit) ?? '').split('\n').filter((name) => WORKSPACES.includes(name));
  const archive = execFileSync('git', ['archive', commit, 'package.json', ...parts], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, '@palisade'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@palisade') symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  for (const name of parts) symlinkSync(join(folder, name), join(packages, '@palisade', name));
  rmSync(join(folder, 'server', 'passwords'), { recursive: true, force: true });
  symlinkSync(join(ROOT, 'server', 'passwords'), join(folder, 'server', 'passwords'));
  return join(folder, 'server', 'src', 'main.ts');
}
