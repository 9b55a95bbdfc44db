// Peer of scanner.ts for small files: an HTTP scanner in front of the same clamd, github.com/benzino77/clamav-rest-api as published. It is not on npm: CLAMAV_REST_API names a folder with its source, in which `npm install` has run.
import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '#bench/free-port.ts';
import { ROOT } from '#bench/server.ts';

const BOUNDARY = 'a-boundary-of-the-bench';
const FORM_KEY = 'FILES';
const replySchema = z.object({
  success: z.literal(true),
  data: z.object({ result: z.array(z.object({ is_infected: z.literal(false) })).length(1) }),
});

export interface RestPeer {
  /** Scans a clean file. @throws for any other answer. */
  scan(bytes: Buffer): Promise<void>;
  stop(): Promise<void>;
}

function post(port: number, agent: Agent, bytes: Buffer): Promise<void> {
  const head = Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${FORM_KEY}"; filename="small.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: '127.0.0.1', port, path: '/api/v1/scan', method: 'POST', agent },
      headers: {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'content-length': head.length + bytes.length + tail.length,
      },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('end', () => {
        if (replySchema.safeParse(JSON.parse(body)).success) resolve();
        else reject(new Error(`The peer answered ${response.statusCode}: ${body}`));
      });
    });
    sent.end(Buffer.concat([head, bytes, tail]));
  });
}

/** Starts the peer in front of a clamd on a port of this machine, as its documentation says, without its log of requests. */
export async function startRestPeer(folder: string, clamd_port: number): Promise<RestPeer> {
  const port = await freePort();
  return await startPeer(port, [join(folder, 'src/app.js')], {
    cwd: folder,
    env: {
      ...{ NODE_ENV: 'production', APP_PORT: `${port}`, APP_FORM_KEY: FORM_KEY, APP_MAX_FILE_SIZE: `${25 * 1024 ** 2}` },
      ...{ CLAMD_IP: '127.0.0.1', CLAMD_PORT: `${clamd_port}`, APP_MORGAN_LOG_FORMAT: 'tiny' },
    },
  });
}

/** Starts what an upload costs at the least (bare-upload.ts); the bytes go to the file `kept`. */
export async function startBareUpload(kept: string): Promise<RestPeer> {
  const port = await freePort();
  return await startPeer(port, [join(ROOT, 'bench/peers/bare-upload.ts'), `${port}`, kept], { cwd: ROOT, env: {} });
}

async function startPeer(
  port: number,
  command: string[],
  where: { cwd: string; env: Record<string, string> },
): Promise<RestPeer> {
  const child = spawn(process.execPath, command, { ...where, stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const agent = new Agent({ keepAlive: true });
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`The peer did not start: ${command[0]}. clamav-rest-api needs npm install in its folder.`);
    try {
      await post(port, agent, Buffer.from('hello'));
      break;
    } catch {
      await pause(50);
    }
  }
  return {
    scan: (bytes) => post(port, agent, bytes),
    async stop() {
      agent.destroy();
      child.kill('SIGKILL');
      await gone;
    },
  };
}
