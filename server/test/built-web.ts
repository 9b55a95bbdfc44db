import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';

/** Opens a connection; an error ends it. */
export function dial(app: { url: string }): Socket {
  return connect(Number(new URL(app.url).port), '127.0.0.1').on('error', () => {});
}

/** A built application of two files, in a folder of its own. */
export function builtWeb(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-web-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'assets'));
  mkdirSync(join(folder, 'icons'));
  writeFileSync(join(folder, 'icons/icon-192.png'), 'the icon of the build');
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><html><head><link rel="icon" href="/favicon.svg"><title>Palisade</title></head></html>',
  );
  writeFileSync(join(folder, 'third-party-notices.txt'), 'Copyright (c) Hörl');
  writeFileSync(join(folder, 'ask.webmanifest'), '{ "start_url": "." }');
  writeFileSync(join(folder, 'assets/main.js'), 'export {};\n'.repeat(1_000_000));
  return folder;
}
