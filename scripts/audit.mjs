// Asks the registry for advisories that name a package that runs in production: `node scripts/audit.mjs`. Fails on one that is high or critical. A registry without an
// advisory service is said to be one, and fails with --required.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

const TIMEOUT_MS = 30_000;
const COMMAND = [
  'audit',
  '--omit=dev',
  '--audit-level=high',
  '--package-lock-only',
  '--json',
  '--loglevel=silent',
  '--fetch-retries=0',
];
const GRAVE = new Set(['high', 'critical']);

/** @typedef {{ findings: string[] } | { unknown: string }} Audit */

/**
 * Meaning of an answer of `npm audit --json` says.
 * @param {string} output
 * @returns {Audit}
 */
export function readAudit(output) {
  /** @type {any} */
  let report;
  try {
    report = JSON.parse(output);
  } catch {
    return { unknown: 'npm did not answer in time, or not in JSON' };
  }
  if (report?.metadata?.vulnerabilities === undefined || report.vulnerabilities === undefined) {
    return {
      unknown: report?.statusCode ? `the registry answered ${report.statusCode}` : (report?.error?.code ?? 'npm gave no report'),
    };
  }
  const findings = Object.values(report.vulnerabilities)
    .filter(({ severity }) => GRAVE.has(severity))
    .map(({ name, severity, via }) => {
      const titles = via.map((/** @type {any} */ one) =>
        typeof one === 'string' ? `through ${one}` : `${one.title} (${one.url})`,
      );
      return `${name}: ${severity}. ${titles.join('; ')}`;
    });
  return { findings };
}

/** @param {Record<string, string>} [env] @returns {Promise<Audit>} */
export async function auditPackages(env) {
  const { output } = await run('npm', COMMAND, { quiet: true, timeout_ms: TIMEOUT_MS, ...(env ? { env } : {}) });
  return readAudit(output);
}

/** @param {Audit} audit */
export function auditSentences(audit) {
  if ('unknown' in audit)
    return [
      `Packages were not compared with advisories: ${audit.unknown}. Run "node scripts/audit.mjs" where the registry has them.`,
    ];
  return audit.findings.map((finding) => `An advisory names a package: ${finding}`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const audit = await auditPackages();
  for (const sentence of auditSentences(audit)) process.stdout.write(`palisade: ${sentence}\n`);
  if ('unknown' in audit) process.exit(process.argv.includes('--required') ? 1 : 0);
  if (audit.findings.length === 0)
    process.stdout.write(
      'palisade: No advisory that is high or critical names a package of the server or the web application.\n',
    );
  process.exit(audit.findings.length === 0 ? 0 : 1);
}
