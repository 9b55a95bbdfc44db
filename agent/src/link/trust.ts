import { getCACertificates, setDefaultCACertificates } from 'node:tls';

let is_done = false;

/**
 * Trusts the certificate authorities of this computer's store, such as a company's, in addition to Node's. They are read once, before the first connection that needs
 * them. Node's flag `--use-system-ca` would read them at startup, and twice.
 */
export function trustSystem({ protocol }: URL): void {
  if (is_done || (protocol !== 'https:' && protocol !== 'wss:')) return;
  is_done = true;
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])]);
}
