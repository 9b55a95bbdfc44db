import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Ack, type Desired, type Report, type Said, saidSchema } from '@palisade/contract/agent';
import { deviceRuleOf, type TypedRule } from '@palisade/contract/device-rule';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect } from 'vitest';
import { z } from 'zod';
import { hashOf } from '#firewall/applied.ts';
import { identityStore } from '#link/identity.ts';
import { createNamespace, endNamespace, join2, type Namespace, temporaryFolder } from './namespace.ts';

/** A computer with an agent and its server, each in a network namespace of its own, with a cable between them. */

const recordSchema = z.record(z.string(), z.unknown());
export const ID = (number: number) => `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`;
export const DEVICE = '10.77.0.1';
export const SERVER = '10.77.0.2';
const PORT = 8_443;
const file = (name: string) => new URL(name, import.meta.url).pathname;

export function rule(number: number, parts: Partial<TypedRule> = {}): TypedRule {
  return {
    id: ID(number),
    direction: 'inbound',
    action: 'block',
    protocol: 'tcp',
    source_ip: '*',
    destination_ip: '*',
    port: '*',
    expires_at: null,
    ...parts,
  };
}

export function desiredOf(rev: number, rules: readonly TypedRule[], parts: Partial<Desired> = {}): Desired {
  const desired: Desired = {
    kind: 'desired',
    rev,
    hash: '',
    defaults: { inbound: 'allow', outbound: 'allow' },
    rules: rules.map((typed) => deviceRuleOf(typed, true)),
    block_list: [],
    scan_jobs: [],
    file_orders: [],
    exclusions: [],
    watched: [],
    is_watching: false,
    signatures: null,
    control: null,
    remote_sessions: [],
    second_looks: [],
    web_protection: null,
    ...parts,
  };
  return { ...desired, hash: parts.hash ?? hashOf(desired) };
}

/** A program that speaks lines. */
interface Speaker {
  child: ChildProcess;
  lines: string[];
  say(line: string): void;
  /** Waits for a line that has not been waited for. */
  next(): Promise<string>;
}

function speakerOf(child: ChildProcess): Speaker {
  const lines: string[] = [];
  let heard = 0;
  if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  createInterface(child.stderr).on('line', (line) => lines.push(`error: ${line}`));
  return {
    child,
    lines,
    say: (line) => child.stdin?.write(`${line}\n`),
    async next() {
      heard += 1;
      await eventually(() => expect(lines.length, lines.join('\n')).toBeGreaterThanOrEqual(heard));
      return lines[heard - 1] ?? '';
    },
  };
}

export interface World {
  device: Namespace;
  server: Namespace;
  folders: { state: string; run: string };
  /** Tells the server what to do. */
  command(command: Record<string, unknown>): void;
  events(): readonly Record<string, unknown>[];
  said<K extends Said['kind']>(kind: K): Extract<Said, { kind: K }>[];
  acks(rev: number): Ack['state'][];
  lastAck(rev: number): Ack | undefined;
  startAgent(options?: { path?: string; times?: readonly string[] }): Promise<Speaker>;
  /** Waits until an ack of a revision has a state. */
  acked(rev: number, state: Ack['state']): Promise<Ack>;
  reported(check: (report: Report) => void): Promise<void>;
  nft(...args: string[]): string;
  /** A TCP connection from the server's side to the device: `open`, `refused` or `silent`. */
  knock(port: number, host?: string): string;
  listen(namespace: Namespace, ...ports: number[]): Promise<Speaker>;
  talk(from: Namespace, host: string, port: number): Promise<Speaker>;
  close(): void;
}

export async function createWorld(): Promise<World> {
  const device = createNamespace();
  const server = createNamespace(device);
  join2(device, server);
  const root = temporaryFolder();
  const folders = { state: join(root, 'state'), run: join(root, 'run') };
  mkdirSync(folders.run);
  await identityStore(folders.state).write({
    server: `http://${SERVER}:${PORT}/`,
    device_id: ID(9_999),
    token: 'a'.repeat(64),
    device_name: 'laptop',
    public_key: '',
    private_key: '',
  });
  const children: ChildProcess[] = [];
  const started = (child: ChildProcess) => {
    children.push(child);
    return speakerOf(child);
  };
  const fake = started(server.start(process.execPath, [file('./fake-server.ts'), `${PORT}`]));
  expect(await fake.next()).toContain('listening');
  const events = () => fake.lines.map((line) => (line.startsWith('{') ? recordSchema.parse(JSON.parse(line)) : { error: line }));
  const frames = () => events().flatMap(({ frame }) => saidSchema.safeParse(frame).data ?? []);
  const said = <K extends Said['kind']>(kind: K) =>
    frames().filter((frame): frame is Extract<Said, { kind: K }> => frame.kind === kind);
  const acksOf = (rev: number) => said('ack').filter((ack) => ack.rev === rev);
  let agent: Speaker | undefined;

  return {
    device,
    server,
    folders,
    events,
    said,
    command: (command) => fake.say(JSON.stringify(command)),
    acks: (rev) => acksOf(rev).map(({ state }) => state),
    lastAck: (rev) => acksOf(rev).at(-1),
    async startAgent({ path, times = [] } = {}) {
      const before = events().filter(({ event }) => event === 'hello').length;
      const args = [process.execPath, file('./run-agent.ts'), folders.state, folders.run, ...times];
      agent = started(device.start('env', [`PATH=${path ?? process.env['PATH']}`, ...args]));
      const running = agent;
      await eventually(() =>
        expect(events().filter(({ event }) => event === 'hello').length, running.lines.join('\n')).toBeGreaterThan(before),
      );
      return agent;
    },
    async acked(rev, state) {
      await eventually(() =>
        expect(acksOf(rev).at(-1)?.state, `${agent?.lines.join('\n')}\n${JSON.stringify(acksOf(rev).at(-1))}`).toBe(state),
      );
      const [ack] = acksOf(rev).slice(-1);
      if (ack === undefined) throw new Error('no ack');
      return ack;
    },
    reported: (check) =>
      eventually(() => {
        const report = said('report').at(-1);
        if (report === undefined) throw new Error('no report');
        check(report);
      }),
    nft: (...args) => device.run('nft', ...args),
    knock: (port, host = DEVICE) => server.run('python3', file('./tcp.py'), 'knock', host, `${port}`).trim(),
    async listen(namespace, ...ports) {
      const speaker = started(namespace.start('python3', [file('./tcp.py'), 'listen', ...ports.map(String)]));
      expect(await speaker.next()).toBe('ready');
      return speaker;
    },
    async talk(from, host, port) {
      const speaker = started(from.start('python3', [file('./tcp.py'), 'talk', host, `${port}`]));
      expect(await speaker.next()).toBe('open');
      return speaker;
    },
    close() {
      for (const child of children) child.kill('SIGKILL');
      endNamespace(server);
      endNamespace(device);
    },
  };
}

/** A folder with a program of one's own in front of the system's. */
export function pathWith(name: string, script: string): string {
  const folder = temporaryFolder();
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return [folder, process.env['PATH']].join(delimiter);
}
