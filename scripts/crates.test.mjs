import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cratesIn, isRust } from './crates.mjs';
import { ROOT } from './node-runtime.mjs';
import { allNotices } from './notices.mjs';

test('a crate is known by the path of its source, once, whatever stands around it', () => {
  const registry = '/home/a/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f';
  const program = Buffer.from(
    `\0\xff${registry}/regex-automata-0.4.11/src/a.rs\0${registry}/regex-automata-0.4.11/src/b.rs${registry}/wasi-0.11.0+preview1/src/lib.rs
    C:\\a\\index.crates.io-1949cf8c6b5b557f\\x509-parser-0.18.0-rc.1\\src\\lib.rs /src/index.crates.io-short/no-1.0.0/src/a.rs`,
    'latin1',
  );
  expect(cratesIn(program)).toEqual([
    { name: 'regex-automata', version: '0.4.11' },
    { name: 'wasi', version: '0.11.0+preview1' },
    { name: 'x509-parser', version: '0.18.0-rc.1' },
  ]);
});

test('the notices name the crates of every program of Rust that is installed here and shipped', () => {
  const programs = globSync('node_modules/{@litko,@node-rs}/*/*.node', { cwd: ROOT }).map((path) =>
    readFileSync(join(ROOT, path)),
  );
  const notices = allNotices();
  for (const program of programs) {
    const crates = cratesIn(program);
    expect(isRust(program)).toBe(true);
    expect(crates.length).toBeGreaterThan(0);
    for (const { name, version } of crates)
      expect(notices).toContain(`\n${name} ${version}: https://docs.rs/crate/${name}/${version}/source/\n`);
  }
});
