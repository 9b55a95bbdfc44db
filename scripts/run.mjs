// Runs other programs, for the scripts in this folder.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

const PATH = [join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);

/**
 * Runs a program of node_modules/.bin or of the system. `quiet` returns its output and does not print it; after `timeout_ms` the program is ended.
 * @param {string} command @param {string[]} args @param {{ env?: Record<string, string>, cwd?: string, quiet?: boolean, timeout_ms?: number }} [options]
 * @returns {Promise<{ code: number, output: string, ms: number }>}
 */
export function run(command, args, options = {}) {
  const began = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: { ...process.env, PATH, ...options.env },
      stdio: ['ignore', options.quiet ? 'pipe' : 'inherit', options.quiet ? 'pipe' : 'inherit'],
      shell: process.platform === 'win32',
      timeout: options.timeout_ms,
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    const done = (code, text) => resolve({ code, output: output + text, ms: performance.now() - began });
    child.once('error', (error) => done(1, error.message));
    child.once('close', (code) => done(code ?? 1, ''));
  });
}
