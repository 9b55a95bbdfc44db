import { readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { parseIp, printIp } from '@palisade/contract/ip-address';

const LOCAL_MAXIMUM = 200;

/** The IP addresses of this computer as text. */
export function localAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(
    all.slice(0, LOCAL_MAXIMUM).flatMap(({ address }) => {
      const read = parseIp(address.replace(/%.*$/u, ''));
      return read === undefined ? [] : [printIp(read)];
    }),
  );
}

/** Identifies this start of the kernel and this network namespace. */
export function kernelNow(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    return '';
  }
}
