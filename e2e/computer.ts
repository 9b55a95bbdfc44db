import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createComputer,
  createNamespace,
  endNamespace,
  join2,
  type Namespace,
  no_namespaces,
  temporaryFolder,
  // biome-ignore lint/style/noRestrictedImports: the network namespaces of the agent's tests.
} from '../agent/test/namespace.ts';

/** The reason why this machine cannot simulate a computer; undefined where it can. */
export { no_namespaces };

const DESKTOP_PROGRAMS = ['Xvfb', 'xterm', 'x11vnc'].filter((name) => !existsSync(`/usr/bin/${name}`));
/** The reason why a simulated computer has no desktop here; undefined where it can have one. */
export const no_desktop = DESKTOP_PROGRAMS.length === 0 ? undefined : `not on this machine: ${DESKTOP_PROGRAMS.join(', ')}`;

/** Addresses of the computer and its neighbour on the cable between them. */
const ADDRESS = { computer: '10.77.0.1', neighbour: '10.77.0.2' } as const;
export const SERVER_NAME = 'palisade.example';

const TCP = fileURLToPath(new URL('../agent/test/tcp.py', import.meta.url));
const RELAY = fileURLToPath(new URL('./relay.ts', import.meta.url));

export interface Computer {
  /** Runs a shell line on the computer as root. @throws Error with the output if it fails */
  shell(line: string): Promise<string>;
  /** Starts the installed agent with shortened intervals, on the desktop if one runs. */
  startAgent(): Promise<void>;
  /** Starts a desktop in memory with a full-screen terminal that writes each typed line to `typed`. */
  startDesktop(typed: string): Promise<void>;
  killAgent(): void;
  /** All output of the agent so far. */
  said(): string;
  listen(port: number): Promise<void>;
  /** Connects from the neighbour: `open`, `refused` or `silent`. */
  knock(port: number): string;
  close(): void;
}

/** Waits until a program prints `text`. */
function heard(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const look = (bytes: Buffer) => {
      said += bytes.toString();
      if (said.includes(text)) resolve();
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('exit', () => reject(new Error(`it ended before it said ${text}: ${said}`)));
  });
}

/** Creates a key and a self-signed certificate for the server's name, valid for one day. */
function certify(folder: string): { key: string; certificate: string } {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
      ...['-subj', `/CN=${SERVER_NAME}`, '-addext', `subjectAltName=DNS:${SERVER_NAME}`, '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  );
  return { key, certificate };
}

/** A new computer in its own network, with a neighbour on the same cable. The computer reaches the server by name over https, as on the internet. */
export async function plugIn(server_url: string): Promise<Computer> {
  const folder = temporaryFolder();
  const network = createNamespace();
  const neighbour = createNamespace(network);
  join2(network, neighbour);
  const computer = await createComputer(network);
  const children: ChildProcess[] = [];
  const start = (namespace: Namespace, program: string, ...args: string[]) => {
    const child = namespace.start(program, args);
    children.push(child);
    return child;
  };

  const path = join(folder, 'out.sock');
  const { port } = new URL(server_url);
  const way_out: Server = createServer((peer) => {
    const inner = connect(Number(port), '127.0.0.1');
    peer.pipe(inner).pipe(peer);
    peer.on('error', () => inner.destroy());
    inner.on('error', () => peer.destroy());
    peer.on('close', () => inner.destroy());
    inner.on('close', () => peer.destroy());
  });
  await new Promise<void>((resolve) => way_out.listen(path, resolve));
  const { key, certificate } = certify(folder);
  const relay = start(neighbour, process.execPath, RELAY, ADDRESS.neighbour, SERVER_NAME, key, certificate, path);
  await heard(relay, 'ready');

  // Runs asynchronously: the requests of the command to the server pass through this process.
  const shell = (line: string) =>
    new Promise<string>((resolve, reject) => {
      const child = start(computer, 'sh', '-c', line);
      let output = '';
      const hear = (bytes: Buffer) => {
        output += bytes.toString();
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${line} ended with ${code}: ${output}`))));
    });
  await shell(`echo nameserver ${ADDRESS.neighbour} > /etc/resolv.conf`);
  // Computers of a company trust the company's own certificate authority in the same way.
  await shell(`cat ${certificate} >> /etc/ssl/certs/ca-certificates.crt`);

  let agent: ChildProcess | undefined;
  let said = '';
  let display: string | undefined;
  return {
    shell,
    async startDesktop(typed) {
      const screen = ['-displayfd', '1', '-screen', '0', '800x600x24', '-nolisten', 'tcp', '-noreset'];
      const desktop = start(computer, 'Xvfb', ...screen);
      display = await new Promise<string>((resolve, reject) => {
        desktop.stdout?.once('data', (bytes: Buffer) => resolve(`:${bytes.toString().trim()}`));
        desktop.once('exit', () => reject(new Error('Xvfb ended')));
      });
      const read = `printf ready; while IFS= read -r line; do printf '%s\\n' "$line" >> ${typed}; done`;
      start(computer, 'env', `DISPLAY=${display}`, 'xterm', '-geometry', '132x50+0+0', '-e', '/bin/sh', '-c', read);
    },
    async startAgent() {
      const times = ['PALISADE_AGENT_REPORT_MS=1000', 'PALISADE_AGENT_TRIAL_MS=8000'];
      const desktop = display === undefined ? [] : [`DISPLAY=${display}`];
      agent = start(computer, 'env', ...times, ...desktop, '/usr/local/bin/palisade-agent', 'run');
      agent.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString()));
      agent.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()));
      await heard(agent, 'connected');
    },
    killAgent: () => void agent?.kill('SIGKILL'),
    said: () => said,
    async listen(open) {
      await heard(start(network, 'python3', TCP, 'listen', String(open)), 'ready');
    },
    knock: (open) => neighbour.run('python3', TCP, 'knock', ADDRESS.computer, String(open)).trim(),
    close() {
      for (const child of children) child.kill('SIGKILL');
      way_out.close();
      endNamespace(computer);
      endNamespace(neighbour);
      endNamespace(network);
    },
  };
}
