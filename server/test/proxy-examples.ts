import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { caddyWith, nginxWith, type Prepare } from './proxy-programs.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');

/** Puts something else in a text, which must be there once. */
export function put(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`not once in the example: ${from}`);
  return text.replace(from, to);
}

type Place = Parameters<Prepare>[0];

/** The line of the example that passes DNS over TLS on, which a comment holds. */
function streamOf(conf: string, { port, upstream }: { port: number; upstream: number }): string {
  const [, line = ''] = /^#\s+(stream \{.*\})$/mu.exec(conf) ?? [];
  return put(put(line, 'listen 853;', `listen 127.0.0.1:${port};`), '127.0.0.1:8853', `127.0.0.1:${upstream}`);
}

/** The examples with only names, ports and certificates changed: a machine without them needs these. */
export const EXAMPLES = {
  nginx: ({ folder: place, port, upstream }: Place, names_over_tls?: { port: number; upstream: number }) => {
    const [key, certificate] = [join(place, 'privkey.pem'), join(place, 'fullchain.pem')];
    const subject = ['-nodes', '-subj', '/CN=localhost', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    let conf = read('nginx.conf').replaceAll('palisade.example.com', 'localhost');
    conf = put(conf, '/etc/ssl/palisade/privkey.pem', key);
    conf = put(conf, '/etc/ssl/palisade/fullchain.pem', certificate);
    conf = put(conf, 'listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`);
    conf = put(conf, '/var/log/nginx/access.log', join(place, 'access.log'));
    conf = put(conf, 'listen 80;', `listen unix:${join(place, 'http.socket')};`);
    const stream = names_over_tls && streamOf(conf, names_over_tls);
    return nginxWith(place, put(conf, 'server 127.0.0.1:3000 max_fails=0;', `server 127.0.0.1:${upstream} max_fails=0;`), stream);
  },
  Caddy: ({ folder: place, port, upstream }: Place) =>
    caddyWith(place, ['admin off', 'auto_https disable_redirects', 'skip_install_trust'], read('Caddyfile'), {
      PALISADE_HOST: `localhost:${port}`,
      PALISADE_SERVERS: `127.0.0.1:${upstream}`,
    }),
} as const;

/** The example for nginx before two servers on these ports of loopback. */
export const nginxBeforeTwo =
  (first: number, second: number): Prepare =>
  (place) => {
    const prepared = EXAMPLES.nginx({ ...place, upstream: first });
    const conf = join(place.folder, 'nginx.conf');
    const line = `server 127.0.0.1:${first} max_fails=0;`;
    writeFileSync(conf, put(readFileSync(conf, 'utf8'), line, `${line} ${line.replace(String(first), String(second))}`));
    return prepared;
  };
