import { isIP, type LookupFunction } from 'node:net';
import { join } from 'node:path';
import { listenPlain } from '@palisade/names/listen';
import { type Ask, plainUpstream } from '@palisade/names/upstream';
import { createStore } from '#agent/store.ts';
import { runProgram } from '#firewall/nft.ts';
import type { Identity } from '#link/identity.ts';
import { Forwarder } from './forwarder.ts';
import { ServerQuestions } from './server-questions.ts';
import { SystemNames } from './system-names.ts';
import { NAMES_ADDRESS } from './way.ts';
import { WebProtection, wishSchema } from './web-protection.ts';

const NAMES_PORT = 53;

/** Resolves a name with the system’s library in a new process, which reads the current resolver settings. */
function lookUp(name: string, within_ms: number): Promise<string | undefined> {
  const seconds = `${within_ms / 1_000}`;
  return runProgram(['timeout'], ['-s', 'KILL', seconds, 'getent', 'ahostsv4', name]).then(
    ({ stdout }) => /^[\d.]+/u.exec(stdout)?.[0],
    () => undefined,
  );
}

/** Creates the web protection of this computer. */
export function createWebProtection(parts: {
  identity: Pick<Identity, 'server'>;
  /** Folder for persistent state. */
  folder: string;
  lookup: LookupFunction;
  wait: (ms: number) => Promise<void>;
  log: (line: string) => void;
}): WebProtection {
  const server = new URL(parts.identity.server);
  const system = new SystemNames();
  const questions = new ServerQuestions(server, parts.lookup);
  let upstreams = new Map<string, Ask>();
  /** The DNS servers from before, created again only if their addresses change, so that connections are reused. */
  const before = () => {
    const found = system
      .network()
      .servers.map((host) => [host, upstreams.get(host) ?? plainUpstream({ host, port: 53 })] as const);
    upstreams = new Map(found);
    return [...upstreams.values()];
  };
  const forwarder = new Forwarder({
    server: questions.ask,
    before,
    domains: () => system.network().domains,
    host: isIP(server.hostname.replace(/^\[|\]$/gu, '')) === 0 ? server.hostname.toLowerCase() : '',
    address: NAMES_ADDRESS,
  });
  return new WebProtection({
    system,
    forwarder,
    store: createStore(join(parts.folder, 'web-protection.json'), wishSchema),
    setKey: (key) => {
      questions.key = key;
    },
    async listen() {
      const listener = await listenPlain({ host: NAMES_ADDRESS, port: NAMES_PORT }, forwarder.answer);
      return {
        async close() {
          await listener.close();
          questions.close();
        },
      };
    },
    lookUp,
    wait: parts.wait,
    log: parts.log,
  });
}
