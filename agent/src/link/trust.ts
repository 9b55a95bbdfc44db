import { getCACertificates, setDefaultCACertificates } from 'node:tls';

let is_done = false;

/**
 * Trusts this computer's own authorities, such as a company's, beside those that come with Node. They are read before the first connection that needs them, and each
 * once: Node's flag for it (`--use-system-ca`) reads them at its start, and a second time beside its own.
 */
export function trustSystem({ protocol }: URL): void {
  if (is_done || (protocol !== 'https:' && protocol !== 'wss:')) return;
  is_done = true;
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])]);
}
