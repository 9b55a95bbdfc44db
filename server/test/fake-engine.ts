import { readFile } from 'node:fs/promises';
import { EICAR } from '@palisade/scanner/test/files';
import type { EngineOutcome, YaraPool } from '@palisade/scanner/yara-pool';

const NAME = 'YARA-X';
const VERSION = 'fake';
const SIGNATURES = 'fake';
const EDITION = `${NAME} ${VERSION} ${SIGNATURES}`;

/** Finding of the rule pack for the EICAR test file. */
const EICAR_FACTS = {
  description: 'The harmless EICAR file that everyone uses to check that an antivirus is working.',
  severity: 'low',
  reference: 'https://www.eicar.org/download-anti-malware-testfile/',
} as const;

/** Findings of the fake in bytes: the EICAR test file as a whole. */
function examinationOf(bytes: Buffer): Extract<EngineOutcome, { kind: 'examined' }>['examination'] {
  const isInfected = bytes.equals(EICAR);
  return {
    threat: isInfected ? 'EICAR-Test-File' : null,
    threat_member: null,
    threat_facts: isInfected ? EICAR_FACTS : null,
    media_type: 'text/plain',
    named_after_upload: false,
    notes: [],
    unread: [],
    coverage: {
      members_total: 0,
      members_scanned: 0,
      bytes_scanned: bytes.length,
      encrypted: 0,
      bytes_raw: 0,
      whole_file_conditions: true,
    },
  };
}

/**
 * An engine without a process, for tests whose subject is not scanning: it is ready at once and knows one threat, the EICAR test file. It keeps to what
 * `server/test/engine-conformance.test.ts` asks of the real pool as well.
 */
export function createFakeEngine(): YaraPool {
  let is_closed = false;
  return {
    edition: () => (is_closed ? undefined : EDITION),
    ready: () => !is_closed,
    complete: () => !is_closed,
    pids: () => [],
    async scan({ path, bytes, signal, onBegin }) {
      const isWanted = () => !is_closed && signal?.aborted !== true;
      if (!isWanted()) return { kind: 'failed', detail: 'engine_down' };
      onBegin?.();
      const content = bytes ?? (await readFile(path).catch(() => undefined));
      if (content === undefined || !isWanted()) return { kind: 'failed', detail: 'engine_down' };
      const facts = { name: NAME, version: VERSION, signatures_version: SIGNATURES, edition: EDITION };
      return { kind: 'examined', examination: examinationOf(content), duration_ms: 1, ...facts };
    },
    status: () => ({
      name: NAME,
      kind: 'native',
      note: null,
      state: is_closed ? 'down' : 'ready',
      version: VERSION,
      signatures_version: SIGNATURES,
      rules: 1,
      hashes: 0,
      memory: [],
      processes: { ready: is_closed ? 0 : 1, wanted: 1 },
    }),
    reload: async () => !is_closed,
    async close() {
      is_closed = true;
    },
  };
}
