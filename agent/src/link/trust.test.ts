import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@palisade/scanner/test/grammar/writers';
import { needing } from '@palisade/scanner/test/needs';
import { beforeEach, expect } from 'vitest';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-trust-'));
});

const call = new URL('./call.ts', import.meta.url).href;

needing('openssl', findProgram('openssl') !== undefined).test(
  'trusts an authority of the computer’s own store, and no other',
  async () => {
    const [key, cert] = [join(root, 'key.pem'), join(root, 'cert.pem')];
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ]);
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
      response.end('{"ok":true}'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const listening = server.address();
    if (listening === null || typeof listening === 'string') throw new Error('no port');
    const program = join(root, 'post.ts');
    writeFileSync(
      program,
      `const { post, failureOf } = await import('${call}');
    await post(new URL('https://127.0.0.1:${listening.port}/'), {}).then(
      ({ body }) => console.log(JSON.stringify(body)),
      (error) => console.log(failureOf(error)),
    );`,
    );
    // Where OpenSSL looks for the computer's store.
    const posted = async (store: string) => {
      const { stdout } = await promisify(execFile)(process.execPath, [program], {
        env: { SSL_CERT_FILE: store, SSL_CERT_DIR: join(root, 'nothing') },
      });
      return stdout.trim();
    };
    try {
      expect(await posted(cert)).toBe('{"ok":true}');
      expect(await posted(join(root, 'none.pem'))).toContain('certificate');
    } finally {
      server.close();
    }
  },
);
